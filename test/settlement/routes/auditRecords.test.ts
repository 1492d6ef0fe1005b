import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { canaryCommitment } from "tallystick-protocol/records/auditCanary";
import { auditReasonCodes } from "tallystick-protocol/records/auditReasons";
import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { bound, buyer, envelope, receiptBody, seller } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "../support/testService.ts";

const operator = privateKeyToAccount(`0x${"55".repeat(32)}`);
const addressOf = ({ address }: LocalAccount) => address.toLowerCase();
const HASH = `0x${"ab".repeat(32)}`;
const HIRE = `${HASH}-7`;
const reasons = [{ code: "off_topic", detail: "It is of something else." }];
const canaries = {
  salt: HASH,
  hires: [{ buyer: addressOf(buyer) as Address, nonce: "first", truth: "bad" as const }],
};

type Good = { fields: RecordBody; by: LocalAccount; bad: { [field: string]: RecordBody[] } };

/** A good body of each type, the account that signs it, and bodies with one field that is refused. */
const GOOD: { [type: string]: Good } = {
  auditor: {
    fields: {
      agent_id: addressOf(seller),
      operator: addressOf(operator),
      capabilities: ["text.translate.en.it"],
      endpoint: "https://auditor.example/hire",
      active: true,
      issued_at: NOW,
    },
    by: seller,
    bad: {
      "body.operator": [{ operator: addressOf(operator).toUpperCase() }],
      "body.capabilities": [
        { capabilities: Array.from({ length: 33 }, (_, n) => `text.kind${n}`) },
        { capabilities: ["text.one", "text.one"] },
      ],
      "body.capabilities.0": [{ capabilities: ["text.*"] }],
      "body.endpoint": [
        { endpoint: "http://auditor.example" },
        { endpoint: "https://127.0.0.1/hire" },
        { endpoint: `https://a.example/${"x".repeat(2_048)}` },
      ],
      "body.active": [{ active: "yes" }],
      "body.issued_at": [{ issued_at: NOW + 301 }, { issued_at: -1 }, { issued_at: null }],
      body: [{ note: "x" }],
    },
  },
  audit_verdict: {
    fields: {
      hire: HIRE,
      round: 1,
      attempt: 1,
      verdict: "fail",
      reasons,
      params_hash: HASH,
      result_hash: HASH,
    },
    by: buyer,
    bad: {
      "body.hire": [{ hire: "0x12" }, { hire: `${HASH}-07` }, { hire: `${HASH}-1000000000` }],
      "body.round": [{ round: 0 }, { round: 17 }, { round: "1" }],
      "body.attempt": [{ attempt: 0 }, { attempt: 17 }],
      "body.verdict": [{ verdict: "good" }],
      "body.reasons": [{ reasons: [] }, { reasons: Array.from({ length: 17 }, () => reasons[0] ?? null) }],
      "body.reasons.0.code": [{ reasons: [{ code: "ugly", detail: "" }] }],
      "body.reasons.0.detail": [{ reasons: [{ code: "other", detail: "x".repeat(501) }] }],
      "body.reasons.0": [{ reasons: [{ code: "other", detail: "", more: 1 }] }],
      "body.params_hash": [{ params_hash: "ab".repeat(32) }],
      "body.result_hash": [{ result_hash: null }],
    },
  },
  audit_judge: {
    fields: { hire: HIRE, round: 1, models: ["one"] },
    by: operator,
    bad: {
      "body.models": [{ models: [] }, { models: Array.from({ length: 9 }, (_, n) => `m${n}`) }],
      "body.models.0": [{ models: [""] }, { models: ["x".repeat(129)] }],
    },
  },
  audit_actuation: {
    fields: { hire: HASH, decision: "rollback", reasons },
    by: operator,
    bad: { "body.decision": [{ decision: "refund" }], "body.reasons": [{ reasons: [] }] },
  },
  audit_mode: {
    fields: { capability: "text.translate.en.it", mode: "bootstrap", justification: "A ring was found." },
    by: operator,
    bad: {
      "body.mode": [{ mode: "mature" }],
      "body.capability": [{ capability: "text" }],
      "body.justification": [{ justification: "" }, { justification: "x".repeat(2_001) }],
    },
  },
  audit_canary: {
    fields: { commitment: canaryCommitment(canaries), reveal: canaries },
    by: operator,
    bad: {
      "body.commitment": [{ commitment: "x" }],
      "body.reveal": [{ commitment: HASH }],
      "body.reveal.hires": [
        { reveal: { ...canaries, hires: [] } },
        { reveal: { ...canaries, hires: Array.from({ length: 65 }, () => canaries.hires[0] ?? null) } },
      ],
      "body.reveal.hires.0.nonce": [
        { reveal: { ...canaries, hires: [{ ...canaries.hires[0], nonce: "x".repeat(129) }] } as RecordBody },
      ],
    },
  },
  audit_history: { fields: { hire: HASH }, by: operator, bad: { "body.hire": [{ hire: 7 }] } },
};

describe("records of audits, at POST /v1/records", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path, { OPERATOR: operator.address });
  });
  afterEach(() => service.close());

  const send = async (type: string, fields: RecordBody, by: LocalAccount) =>
    service.post("/v1/records", { type, ...(await bound(type, fields, by)) });
  const refused = async (answer: Awaited<ReturnType<typeof send>>, code: string, field: string) => {
    expect([answer.status, answer.json.code, answer.json.errors?.[0].field], answer.text).to.deep.equal([
      400,
      code,
      field,
    ]);
    expect(service.ledger.size).to.equal(0);
  };

  for (const [type, { fields, by, bad }] of Object.entries(GOOD)) {
    it(`names the faults of an ${type}, and settles a valid one once`, async () => {
      for (const [field, changes] of Object.entries(bad)) {
        for (const change of changes)
          await refused(await send(type, { ...fields, ...change }, by), "invalid_input", field);
      }
      const unbound = { type, ...(await envelope(fields)) };
      await refused(await service.post("/v1/records", unbound), "unbound", "body.type");
      const elsewhere = await bound(type, fields, by, `0x${"2e".repeat(32)}`);
      await refused(await service.post("/v1/records", { type, ...elsewhere }), "other_ledger", "body.ledger");

      const first = await send(type, fields, by);
      expect([first.status, first.json.type, first.json.index], first.text).to.deep.equal([201, type, 0]);
      expect((await send(type, fields, by)).status).to.equal(200);
    });
  }

  it("accepts an operator's records only from the operator, and an auditor's offer only from the auditor", async () => {
    for (const [type, { fields, by }] of Object.entries(GOOD)) {
      if (type === "audit_verdict") continue;
      const other = by === operator ? seller : operator;
      const sent = { type, ...(await bound(type, fields, other)), signer: addressOf(other) };
      await refused(await service.post("/v1/records", sent), "invalid_input", "signer");
    }
    await service.close();
    service = await openTestService(folder.path);
    const { fields } = GOOD.audit_mode as Good;
    await refused(await send("audit_mode", fields, operator), "invalid_input", "signer");
  });

  it("answers a second verdict on an assignment, and a second decision on a hire, with the existing record", async () => {
    const changes: [string, RecordBody][] = [
      ["audit_verdict", { verdict: "pass" }],
      ["audit_actuation", { decision: "dismiss" }],
      ["audit_judge", { models: ["other"] }],
    ];
    for (const [type, change] of changes) {
      const { fields, by } = GOOD[type] as Good;
      expect((await send(type, fields, by)).status).to.equal(201);
      const second = await send(type, { ...fields, ...change }, by);
      expect([second.status, second.json.code], second.text).to.deep.equal([409, "conflicting_record"]);
    }
    const { fields } = GOOD.audit_verdict as Good;
    expect((await send("audit_verdict", fields, seller)).status, "another auditor").to.equal(201);
  });

  it("accepts the end of an auditor's offer with any address", async () => {
    const { fields, by } = GOOD.auditor as Good;
    const gone = { ...fields, active: false, endpoint: "http://127.0.0.1" };
    expect((await send("auditor", gone, by)).status).to.equal(201);
  });

  it("names every code of the published list", async () => {
    const { fields, by } = GOOD.audit_verdict as Good;
    const answer = await send("audit_verdict", { ...fields, reasons: [{ code: "", detail: "" }] }, by);
    for (const code of auditReasonCodes) expect(answer.text).to.contain(code);
  });
});

describe("the hashes of a receipt", () => {
  const folder = temporaryFolder();
  it("are 32 bytes each, or absent", async () => {
    const service = await openTestService(folder.path);
    for (const field of ["params_hash", "result_hash"]) {
      for (const bad of ["ab".repeat(32), `0x${"AB".repeat(32)}`, null, 7]) {
        const answer = await service.post("/v1/receipts", await envelope(receiptBody({ [field]: bad })));
        expect([answer.status, answer.json.errors[0].field]).to.deep.equal([400, `body.${field}`]);
      }
    }
    const hashes = { params_hash: HASH, result_hash: HASH };
    const answer = await service.post("/v1/receipts", await envelope(receiptBody(hashes)));
    expect(answer.status, answer.text).to.equal(201);
    await service.close();
  });
});
