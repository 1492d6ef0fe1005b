import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { bindBody } from "tallystick-protocol/records/binding";
import { type SignedRecord, signBody } from "tallystick-protocol/records/record";
import {
  isStewardRecordType,
  type StewardRecordType,
  stewardIssues,
} from "../../../services/settlement/engine/stewardRules.ts";
import { buyer, seller } from "../support/records.ts";

const [BUYER, SELLER] = [buyer, seller].map(({ address }) => address.toLowerCase() as `0x${string}`) as [
  `0x${string}`,
  `0x${string}`,
];
const HASH = `0x${"ab".repeat(32)}`;
const BREACH = `brch_${"0".repeat(26)}`;
const LATEST = 7_200;
const FUTURE = "is in the future; it is unix seconds";

describe("the rules of the records of STEWARD", () => {
  const body = (type: string, fields: RecordBody) => bindBody(fields, { type, ledger: "local" });
  /** What the rules say of a record, at the time {@link LATEST}. */
  const said = (type: StewardRecordType, fields: RecordBody, signer: `0x${string}` = BUYER): string[] => {
    const record = { type, body: body(type, fields), signer, signature: "0x" };
    return stewardIssues(record as SignedRecord & { type: StewardRecordType }, LATEST).map(
      ({ field, message }) => `${field}: ${message}`,
    );
  };

  it("accept a time that has come, and not one second more", () => {
    const run = { seed: "1", passing: 1, total: 1, flaky: 0, without_assertions: 0 };
    const runs = [{ ...run, report_hash: HASH, outcomes_hash: HASH }];
    const attested = (ran_at: number) =>
      said("attestation", { agent_id: SELLER, version: "1.0.0", commit: "ab".repeat(20), runs, ran_at });
    expect([attested(LATEST), attested(LATEST + 1)]).to.deep.equal([[], [`body.ran_at: ${FUTURE}`]]);

    const up = (hour: number) => said("uptime", { hour, region: "eu", part: 0, hosts: {}, served: {} });
    const notOver = "body.hour: is not over yet; it is unix seconds / 3600";
    expect([up(0), up(1), up(2)]).to.deep.equal([[], [], [notOver]]);

    const guarantee = {
      ...{ metric: "uptime", target: "0.99", measurement_window: "30 days", breach_threshold: "0.95" },
      penalty: { type: "trust_score_reduction", amount: "0.1" },
    };
    const sla = (issued_at: number) => ({
      ...{ agent_id: SELLER, version: "1.0.0", effective_date: "2025-11-21", guarantees: [guarantee] },
      breach_notification: { notify_delegators: true, notify_registry: true, publish_breach_report: true },
      dispute_resolution: { allowed: true, review_period_days: 7, arbitrator: "committee" },
      issued_at,
    });
    expect(said("sla", sla(LATEST), SELLER)).to.deep.equal([]);
    expect(said("sla", sla(LATEST + 1), BUYER)).to.deep.equal([
      `body.issued_at: ${FUTURE}`,
      `signer: must be the agent itself, ${SELLER}`,
    ]);
  });

  it("accept what was monitored on a day that has begun, with no agent asked in the future", () => {
    const asked = (asked_at: number) => ({
      ...{ endpoint: "https://agent.example/sla", asked_at },
      differences: [{ metric: "uptime", measurement_window: "30 days", measured: "0.94", claimed: null }],
    });
    const day = 86_400;
    const record = (at: number) => {
      const agents = { [BUYER]: asked(day), [SELLER]: asked(day + 1) };
      const fields = body("monitoring", { day: 1, part: 0, agents });
      const monitored = { type: "monitoring", body: fields, signer: BUYER, signature: "0x" } as const;
      return stewardIssues(monitored, at).map(({ field, message }) => `${field}: ${message}`);
    };
    const late = `body.agents.${SELLER}.asked_at: ${FUTURE}`;
    expect(record(day + 1)).to.deep.equal([]);
    expect(record(day)).to.deep.equal([late]);
    expect(record(day - 1)).to.deep.equal([
      `body.agents.${BUYER}.asked_at: ${FUTURE}`,
      late,
      "body.day: has not begun; it is unix seconds / 86400",
    ]);
  });

  it("accept an endorsement by its endorser for another agent that agrees, and its end without consent", async () => {
    const fields = { endorser: BUYER, agent_id: SELLER, issued_at: LATEST };
    const agent_signature = await signBody(body("endorsement", fields), { account: seller });
    expect(said("endorsement", { ...fields, agent_signature })).to.deep.equal([]);
    const consent = `body.agent_signature: must be ${SELLER}'s signature over the body without this field`;
    expect(said("endorsement", fields)).to.deep.equal([consent]);
    expect(said("endorsement", { ...fields, revoked: false })).to.deep.equal([consent]);
    expect(said("endorsement", { ...fields, issued_at: 1, agent_signature })).to.deep.equal([consent]);
    expect(said("endorsement", { ...fields, revoked: true })).to.deep.equal([]);
    const own = { endorser: SELLER, agent_id: SELLER, issued_at: LATEST + 1, revoked: true };
    expect(said("endorsement", own)).to.deep.equal([
      `body.issued_at: ${FUTURE}`,
      `signer: must be the endorser itself, ${SELLER}`,
      "body.agent_id: must not be the endorser itself",
    ]);
  });

  it("let only the agent dispute a breach, and anybody rule on it or report its payment", () => {
    const dispute = {
      ...{ breach: BREACH, agent_id: SELLER, claim: "It was away.", evidence: ["https://a.example/1"] },
      requested_remedy: "remove_penalty",
    };
    expect(said("sla_dispute", dispute, SELLER)).to.deep.equal([]);
    expect(said("sla_dispute", dispute)).to.deep.equal([`signer: must be the agent itself, ${SELLER}`]);
    const ruling = { breach: BREACH, ruling: "overturned", reasons: "It was.", excuse: "registry_outage" };
    const payment = { breach: BREACH, buyer: BUYER, tx_hash: HASH, log_index: 3 };
    expect([said("sla_ruling", ruling), said("sla_payment", payment)]).to.deep.equal([[], []]);
    expect(() => said("sla_ruling", { ...ruling, ruling: "maybe" })).to.throw("body.ruling");
    expect(() => said("sla_payment", { ...payment, log_index: -1 })).to.throw("body.log_index");
  });

  it("are for their own types only", () => {
    const own = "attestation uptime monitoring endorsement sla sla_dispute sla_ruling sla_payment".split(" ");
    const others = ["listing", "auditor", "toString", "constructor", ""];
    expect([...own, ...others].filter(isStewardRecordType)).to.deep.equal(own);
  });
});
