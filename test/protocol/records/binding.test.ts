import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseAttestation } from "tallystick-protocol/records/attestation";
import { parseAuditActuation } from "tallystick-protocol/records/auditActuation";
import { parseAuditCanary } from "tallystick-protocol/records/auditCanary";
import { parseAuditHistory } from "tallystick-protocol/records/auditHistory";
import { parseAuditJudge } from "tallystick-protocol/records/auditJudge";
import { parseAuditMode } from "tallystick-protocol/records/auditMode";
import { parseAuditor } from "tallystick-protocol/records/auditor";
import { parseAuditVerdict } from "tallystick-protocol/records/auditVerdict";
import { bindBody, checkBinding } from "tallystick-protocol/records/binding";
import { parseClaim } from "tallystick-protocol/records/claim";
import { parseConsensus } from "tallystick-protocol/records/consensus";
import { parseEndorsement } from "tallystick-protocol/records/endorsement";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { parseListing } from "tallystick-protocol/records/listing";
import { parseMonitoring } from "tallystick-protocol/records/monitoring";
import { parseOutcomes } from "tallystick-protocol/records/outcomes";
import { parseParams } from "tallystick-protocol/records/params";
import { parsePulse } from "tallystick-protocol/records/pulse";
import { parseRating } from "tallystick-protocol/records/rating";
import { parseReceipt } from "tallystick-protocol/records/receipt";
import { isSignedBy, signRecord } from "tallystick-protocol/records/record";
import { parseReview } from "tallystick-protocol/records/review";
import { parseSla } from "tallystick-protocol/records/sla";
import { parseSlaDispute } from "tallystick-protocol/records/slaDispute";
import { parseSlaPayment } from "tallystick-protocol/records/slaPayment";
import { parseSlaRuling } from "tallystick-protocol/records/slaRuling";
import { parseTelemetry } from "tallystick-protocol/records/telemetry";
import { parseUptime } from "tallystick-protocol/records/uptime";
import { generatePrivateKey } from "viem/accounts";

const LEDGER: LedgerName = `0x${"1e".repeat(32)}`;
const OTHER: LedgerName = `0x${"2e".repeat(32)}`;
const address = `0x${"aa".repeat(20)}`;
const hash = "ab".repeat(32);

/** For every bound type: a valid body without type and ledger, and the function that reads it. */
const BOUND: { [type: string]: [RecordBody, (body: RecordBody) => unknown] } = {
  rating: [{ receipt: hash, side: "buyer", stars: 1 }, parseRating],
  telemetry: [
    { receipt: hash, latency_ms: 5, verification: { all_passed: true, checks: {} } },
    parseTelemetry,
  ],
  claim: [{ agent_id: address, x_handle: "ada", verification_hash: hash, state: "verified" }, parseClaim],
  stake: [{ task_id: "t", proposal: hash }, parseConsensus],
  verify: [{ task_id: "t", proposal: hash }, parseConsensus],
  contest: [{ task_id: "t", proposal: hash, verdict: "no" }, parseConsensus],
  review: [{ proposal: hash, decision: "release", reason: "seen" }, parseReview],
  params: [{ version: 2 }, parseParams],
  pulse: [{ size: 1, root: `0x${hash}`, verified_at: 1 }, parsePulse],
};
const reasons = [{ code: "off_topic", detail: "" }];
const hire = `0x${hash}`;
const hashes = { params_hash: hire, result_hash: hire };
const other = `0x${"bb".repeat(20)}`;
const breach = `brch_${"0".repeat(26)}`;
const testRun = { passing: 1, total: 1, flaky: 0, report_hash: hire, outcomes_hash: hire };
/** The same for the types that never had the old form. The old form has no type and no ledger in the body. */
const BORN_BOUND: typeof BOUND = {
  auditor: [
    {
      agent_id: address,
      operator: address,
      capabilities: [],
      endpoint: "https://a.example",
      active: true,
      issued_at: 0,
    },
    parseAuditor,
  ],
  audit_verdict: [{ hire, round: 1, attempt: 1, verdict: "pass", reasons, ...hashes }, parseAuditVerdict],
  audit_judge: [{ hire, round: 1, models: ["m"] }, parseAuditJudge],
  audit_actuation: [{ hire, decision: "dismiss", reasons }, parseAuditActuation],
  audit_mode: [{ capability: "text.any", mode: "bootstrap", justification: "why" }, parseAuditMode],
  audit_canary: [{ commitment: hire }, parseAuditCanary],
  audit_history: [{ hire }, parseAuditHistory],
  attestation: [
    { agent_id: address, version: "1", commit: "ab".repeat(20), runs: [testRun], ran_at: 0 },
    parseAttestation,
  ],
  uptime: [{ hour: 1, region: "eu", part: 0, hosts: { "a.example:443": [3, 1] }, served: {} }, parseUptime],
  endorsement: [{ endorser: address, agent_id: other, issued_at: 0, revoked: true }, parseEndorsement],
  sla: [{ agent_id: address, version: "1", guarantees: [], issued_at: 0 }, parseSla],
  sla_dispute: [
    { breach, agent_id: address, claim: "no", evidence: [], requested_remedy: "remove_penalty" },
    parseSlaDispute,
  ],
  sla_ruling: [{ breach, ruling: "upheld", reasons: "why" }, parseSlaRuling],
  outcomes: [
    {
      hour: 1,
      part: 0,
      agents: { [address]: { ok: 1, fail: 0, c: { ok: 1, fail: 0 }, divergence: { compared: 0, sum: 0 } } },
    },
    parseOutcomes,
  ],
  monitoring: [
    {
      ...{ day: 20_454, part: 0 },
      agents: {
        [address]: {
          ...{ endpoint: "https://agent.example/sla", asked_at: 1_767_225_600 },
          differences: [{ metric: "uptime", measurement_window: "7 days", measured: "0.9", claimed: null }],
        },
      },
    },
    parseMonitoring,
  ],
  sla_payment: [{ breach, buyer: address, tx_hash: hire, log_index: 0 }, parseSlaPayment],
};
Object.assign(BOUND, BORN_BOUND);
const FREE: { [type: string]: (body: RecordBody) => unknown } = {
  listing: parseListing,
  receipt: parseReceipt,
};

/** The error code of a refused record, or the content of its body. */
function read(type: string, body: RecordBody, ledger: LedgerName): unknown {
  try {
    checkBinding({ type, body }, ledger);
    return BOUND[type]?.[1](body) ?? FREE[type]?.(body);
  } catch (error) {
    if (error instanceof InvalidInputError) return error.code;
    throw error;
  }
}

describe("the binding of a record to its type and ledger", () => {
  for (const [type, [fields]] of Object.entries(BOUND)) {
    it(`makes a ${type} valid only as this type and in this ledger`, () => {
      const body = bindBody(fields, { type, ledger: LEDGER });
      expect(read(type, body, LEDGER))
        .to.be.an("object")
        .that.has.not.any.keys("type", "ledger");
      expect(read(type, body, OTHER)).to.equal("other_ledger");
      expect(read(type, body, "local")).to.equal("other_ledger");
      for (const other of Object.keys(BOUND)) {
        if (other !== type) expect(read(other, body, LEDGER), other).to.equal("other_type");
      }
      for (const other of Object.keys(FREE))
        expect(read(other, body, LEDGER), other).to.equal("invalid_input");
    });

    it(`allows no unknown field in a bound ${type}`, () => {
      const more = { ...bindBody(fields, { type, ledger: LEDGER }), note: "x" };
      expect(read(type, more, LEDGER)).to.equal("invalid_input");
      const old = { ...fields, note: "x" };
      if (type in BORN_BOUND) expect(() => BOUND[type]?.[1](fields), "has no old form").to.throw();
      else if (type !== "params") expect(() => BOUND[type]?.[1](old), "has an old form").not.to.throw();
    });

    it(`refuses a ${type} without type, ledger or both`, () => {
      expect(read(type, fields, LEDGER)).to.equal("unbound");
      expect(read(type, { ...fields, type }, LEDGER)).to.equal("other_ledger");
      expect(read(type, { ...fields, ledger: LEDGER }, LEDGER)).to.equal("other_type");
    });
  }

  it("is covered by the signature", async () => {
    const privateKey = generatePrivateKey();
    const record = await signRecord({ type: "verify", ledger: LEDGER, body: { task_id: "t" }, privateKey });
    expect(record.body).to.deep.equal({ type: "verify", ledger: LEDGER, task_id: "t" });
    for (const change of [{ type: "contest" }, { ledger: OTHER }] as RecordBody[]) {
      expect(isSignedBy({ ...record.body, ...change }, record.signature, record.signer)).to.equal(false);
    }
  });

  it("is not in listings and receipts, whose form is fixed", async () => {
    const privateKey = generatePrivateKey();
    expect((await signRecord({ type: "receipt", body: { a: 1 }, privateKey })).body).to.deep.equal({ a: 1 });
    checkBinding({ type: "listing", body: {} }, LEDGER);
  });

  it("is refused with what the body must name, and with advice", () => {
    const refused = (body: RecordBody) => {
      try {
        checkBinding({ type: "rating", body }, LEDGER);
      } catch (error) {
        return error as InvalidInputError;
      }
      throw new Error("nothing was refused");
    };
    const type = { field: "body.type", message: "must be rating, the type of this record" };
    const ledger = { field: "body.ledger", message: `must be ${LEDGER}, the name of this ledger` };
    expect(refused({}).issues).to.deep.equal([type, ledger]);
    expect(refused({ type: "rating" }).issues).to.deep.equal([ledger]);
    expect(refused({ type: "stake", ledger: LEDGER }).issues).to.deep.equal([type]);
    expect(refused({}).hint).to.match(/^Sign type and ledger inside the body\. GET \/v1\/ledger\/latest/);
    // A body that only inherits both names does not sign them.
    expect(refused(Object.create({ type: "rating", ledger: LEDGER })).issues).to.deep.equal([type, ledger]);
  });

  it("cannot be added twice", () => {
    const binding = { type: "rating", ledger: LEDGER };
    expect(() => bindBody({ ledger: OTHER }, binding)).to.throw(InvalidInputError, "body.ledger");
    expect(() => bindBody({ type: "stake" }, binding)).to.throw(InvalidInputError, "body.type");
  });
});
