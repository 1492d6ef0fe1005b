import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { addressProblem } from "tallystick-protocol/net/publicAddress";
import { bindBody } from "tallystick-protocol/records/binding";
import {
  type AuditRecordType,
  auditRules,
  isAuditRecordType,
} from "../../../services/settlement/engine/auditRules.ts";
import { buyer, seller } from "../support/records.ts";

const [BUYER, SELLER] = [buyer, seller].map(({ address }) => address.toLowerCase()) as [
  `0x${string}`,
  `0x${string}`,
];
const HASH = `0x${"ab".repeat(32)}`;
const LATEST = 1_000;
const reasons = [{ code: "off_topic", detail: "It is of something else." }];

describe("the rules of records of audits", () => {
  const rules = (type: AuditRecordType, fields: RecordBody, devMode = false, operator = SELLER) => {
    const body = bindBody(fields, { type, ledger: "local" });
    return auditRules({ type, body, signer: BUYER, signature: "0x" }, { operator, latest: LATEST, devMode });
  };
  const operatorsWords: { [type in AuditRecordType]?: [good: RecordBody, bad: RecordBody] } = {
    audit_judge: [{ hire: `${HASH}-7`, round: 1, models: ["one"] }, { models: [] }],
    audit_actuation: [{ hire: HASH, decision: "rollback", reasons }, { decision: "refund" }],
    audit_mode: [
      { capability: "text.translate.en.it", mode: "bootstrap", justification: "A ring was found." },
      { mode: "mature" },
    ],
    audit_canary: [{ commitment: HASH }, { commitment: "x" }],
    audit_history: [{ hire: HASH }, { hire: 7 }],
  };
  const verdict = {
    ...{ hire: `${HASH}-7`, round: 1, attempt: 1, verdict: "fail", reasons },
    ...{ params_hash: HASH, result_hash: HASH },
  };

  it("want the operator for its own words, the agent for its offer, and anybody for a verdict", () => {
    for (const [type, [good, bad]] of Object.entries(operatorsWords)) {
      const mustBe = { signer: SELLER, who: "the operator of this service" };
      expect(rules(type as AuditRecordType, good), type).to.deep.equal({ issues: [], mustBe });
      const [field] = Object.keys(bad);
      expect(() => rules(type as AuditRecordType, { ...good, ...bad }), type).to.throw(`body.${field}`);
    }
    expect(rules("audit_verdict", verdict)).to.deep.equal({ issues: [] });
    expect(() => rules("audit_verdict", { ...verdict, verdict: "good" })).to.throw("body.verdict");
  });

  it("accept an auditor's offer at a public address from a time that has come; its end at any address", () => {
    const local = "http://127.0.0.1/hire";
    const offer = {
      ...{ agent_id: BUYER, operator: SELLER, capabilities: ["text.translate.en.it"], active: true },
      ...{ endpoint: "https://auditor.example/hire", issued_at: LATEST },
    };
    const said = (change: RecordBody, devMode = false) =>
      rules("auditor", { ...offer, ...change }, devMode).issues;
    expect(rules("auditor", offer)).to.deep.equal({
      issues: [],
      mustBe: { signer: BUYER, who: "the agent itself" },
    });
    const endpoint = { field: "body.endpoint", message: addressProblem(local) };
    const time = { field: "body.issued_at", message: "is in the future; it is unix seconds" };
    expect(said({ endpoint: local, issued_at: LATEST + 1 })).to.deep.equal([endpoint, time]);
    expect(said({ endpoint: local }, true)).to.deep.equal([]);
    expect(said({ endpoint: local, active: false })).to.deep.equal([]);
    expect(said({ issued_at: LATEST + 1 }, true)).to.deep.equal([time]);
  });

  it("are for their own types only", () => {
    const own = [...Object.keys(operatorsWords), "auditor", "audit_verdict"];
    const others = ["listing", "sla", "toString", "constructor", ""];
    expect([...own, ...others].filter(isAuditRecordType)).to.deep.equal(own);
  });
});
