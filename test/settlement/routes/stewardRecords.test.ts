import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { bindBody } from "tallystick-protocol/records/binding";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signBody } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import { bound, buyer, seller } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "../support/testService.ts";

const addressOf = ({ address }: LocalAccount) => address.toLowerCase();
const HASH = `0x${"ab".repeat(32)}`;
const BREACH = `brch_${"0".repeat(26)}`;
const HOUR = Math.floor(NOW / 3600);
const run = { seed: "1", passing: 3, total: 5, flaky: 1, without_assertions: 1, report_hash: HASH };
const runs = [{ ...run, outcomes_hash: HASH }];
const uptime = {
  metric: "uptime",
  target: "0.99",
  measurement_window: "30 days",
  breach_threshold: "0.95",
  penalty: { type: "trust_score_reduction", amount: "0.1" },
};
const latency = {
  metric: "latency_p99",
  target: "5000",
  unit: "milliseconds",
  measurement_window: "7 days",
  breach_threshold: "7500",
  penalty: { type: "temporary_suspension", duration: "7 days" },
};
const guarantee = (change: RecordBody) => ({ guarantees: [{ ...uptime, ...change }] });
const penalty = (change: RecordBody) => guarantee({ penalty: change });

const difference = (change: RecordBody): RecordBody => ({
  ...{ metric: "uptime", measurement_window: "30 days", measured: "0.94", claimed: null },
  ...change,
});
const monitored = (change: RecordBody): RecordBody => ({
  ...{ endpoint: "https://agent.example/sla", asked_at: NOW, differences: [difference({})] },
  ...change,
});
const crowd = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`0x${String(n).padStart(40, "0")}`, monitored({})]),
  );

/** For each type: a good body, its signer, and bodies in which one field is refused. */
const GOOD: {
  [type: string]: { fields: RecordBody; by: LocalAccount; bad: { [field: string]: RecordBody[] } };
} = {
  attestation: {
    fields: { agent_id: addressOf(seller), version: "4.0.0", commit: "ab".repeat(20), runs, ran_at: NOW },
    by: buyer,
    bad: {
      "body.agent_id": [{ agent_id: "0x12" }],
      "body.alias": [{ alias: "Not This" }, { alias: "-x" }, { alias: "x".repeat(64) }],
      "body.commit": [{ commit: "ab".repeat(19) }, { commit: "AB".repeat(20) }],
      "body.version": [{ version: "" }, { version: "x".repeat(65) }],
      "body.runs": [{ runs: [] }, { runs: Array.from({ length: 17 }, () => runs[0] ?? null) }],
      "body.runs.0.total": [{ runs: [{ ...run, total: 4, outcomes_hash: HASH }] }],
      "body.runs.0.seed": [{ runs: [{ ...run, seed: "", outcomes_hash: HASH }] }],
      "body.runs.0.passing": [{ runs: [{ ...run, passing: -1, outcomes_hash: HASH }] }],
      "body.runs.0.outcomes_hash": [{ runs: [run] }],
      "body.ci_url": [{ ci_url: "ftp://ci.example" }],
      "body.coverage_tool": [{ coverage_tool: "" }],
      "body.ran_at": [{ ran_at: NOW + 301 }, { ran_at: -1 }],
      body: [{ note: "x" }],
    },
  },
  uptime: {
    fields: {
      hour: HOUR - 1,
      region: "eu-west",
      part: 0,
      hosts: { "seller.example:443": [4095, 3], "[2001:db8::1]:8443": [1, 0] },
      served: { [addressOf(seller)]: ["seller.example:443"] },
    },
    by: buyer,
    bad: {
      "body.hour": [{ hour: HOUR }, { hour: HOUR + 1 }, { hour: -1 }],
      "body.region": [{ region: "EU" }, { region: "" }],
      "body.part": [{ part: -1 }, { part: 1024 }],
      "body.hosts": [
        { hosts: Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`h${n}:1`, [0, 0]])) },
      ],
      "body.hosts.Seller.example:443": [{ hosts: { "Seller.example:443": [1, 0] } }],
      "body.hosts.seller.example": [{ hosts: { "seller.example": [1, 0] } }],
      "body.hosts.a:1": [{ hosts: { "a:1": [1, 2] } }, { hosts: { "a:1": [1] } }],
      "body.hosts.a:1.0": [{ hosts: { "a:1": [4096, 0] } }],
      "body.served.0x12": [{ served: { "0x12": ["a:1"] } }],
      [`body.served.${addressOf(seller)}`]: [
        { served: { [addressOf(seller)]: [] } },
        { served: { [addressOf(seller)]: ["a:1", "a:1"] } },
        { served: { [addressOf(seller)]: Array.from({ length: 17 }, (_, n) => `a:${n + 1}`) } },
      ],
    },
  },
  monitoring: {
    fields: {
      day: Math.floor(NOW / 86_400),
      part: 0,
      agents: { [addressOf(seller)]: monitored({}) },
    },
    by: buyer,
    bad: {
      "body.day": [{ day: Math.floor(NOW / 86_400) + 1 }, { day: -1 }],
      "body.part": [{ part: -1 }, { part: 1024 }],
      "body.agents": [{ agents: {} }, { agents: crowd(101) }],
      "body.agents.0x12": [{ agents: { "0x12": monitored({}) } }],
      [`body.agents.${addressOf(seller)}.endpoint`]: [
        { agents: { [addressOf(seller)]: monitored({ endpoint: "ftp://agent.example" }) } },
      ],
      [`body.agents.${addressOf(seller)}.asked_at`]: [
        { agents: { [addressOf(seller)]: monitored({ asked_at: NOW + 301 }) } },
        { agents: { [addressOf(seller)]: monitored({ asked_at: -1 }) } },
      ],
      [`body.agents.${addressOf(seller)}.differences`]: [
        {
          agents: {
            [addressOf(seller)]: monitored({ differences: [difference({}), difference({ claimed: "1" })] }),
          },
        },
      ],
      [`body.agents.${addressOf(seller)}.differences.0.metric`]: [
        { agents: { [addressOf(seller)]: monitored({ differences: [difference({ metric: "speed" })] }) } },
      ],
      [`body.agents.${addressOf(seller)}.differences.0.claimed`]: [
        { agents: { [addressOf(seller)]: monitored({ differences: [difference({ claimed: "-1" })] }) } },
        { agents: { [addressOf(seller)]: monitored({ differences: [difference({ claimed: "1e9" })] }) } },
      ],
      body: [{ note: "x" }],
    },
  },
  endorsement: {
    fields: {
      endorser: addressOf(buyer),
      agent_id: addressOf(seller),
      capability: "text.translate.en.it",
      statement: "It is good.",
      issued_at: NOW,
    },
    by: buyer,
    bad: {
      "body.capability": [{ capability: "text" }],
      "body.statement": [{ statement: "x".repeat(501) }],
      "body.issued_at": [{ issued_at: NOW + 301 }],
      "body.agent_id": [{ agent_id: addressOf(buyer), agent_signature: "0x12" }],
      "body.agent_signature": [{ agent_signature: `0x${"12".repeat(65)}` }],
      signer: [{ endorser: addressOf(seller) }],
    },
  },
  sla: {
    fields: {
      agent_id: addressOf(seller),
      version: "1.0.0",
      effective_date: "2025-11-21",
      guarantees: [uptime, latency],
      breach_notification: { notify_delegators: true, notify_registry: true, publish_breach_report: true },
      dispute_resolution: { allowed: true, review_period_days: 7, arbitrator: "committee" },
      issued_at: NOW,
    },
    by: seller,
    bad: {
      signer: [{ agent_id: addressOf(buyer) }],
      "body.effective_date": [{ effective_date: "21.11.2025" }],
      "body.issued_at": [{ issued_at: NOW + 301 }],
      "body.guarantees": [{ guarantees: [uptime, uptime] }],
      "body.guarantees.0.metric": [guarantee({ metric: "rating" })],
      "body.guarantees.0.target": [
        guarantee({ target: 1 }),
        guarantee({ target: "1.1" }),
        guarantee({ target: ".9" }),
        guarantee({ target: "all" }),
        { guarantees: [{ ...latency, target: "fast" }] },
      ],
      "body.guarantees.0.breach_threshold": [
        guarantee({ breach_threshold: "0.991" }),
        guarantee({ breach_threshold: "none" }),
        { guarantees: [{ ...latency, breach_threshold: "4999.999" }] },
      ],
      "body.guarantees.0.unit": [{ guarantees: [{ ...latency, unit: "seconds" }] }],
      "body.guarantees.0.measurement_window": [guarantee({ measurement_window: "1 days" })],
      "body.guarantees.0.penalty.type": [penalty({ type: "shame" })],
      "body.guarantees.0.penalty.amount": [
        penalty({ type: "trust_score_reduction", amount: "0" }),
        penalty({ type: "trust_score_reduction", amount: "1.000000001" }),
        penalty({ type: "financial", amount: "0.00", currency: "USDC" }),
        penalty({ type: "financial", amount: "0.0000001", currency: "USDC" }),
      ],
      "body.guarantees.0.penalty.currency": [penalty({ type: "financial", amount: "100", currency: "USD" })],
      "body.guarantees.0.penalty.duration": [
        penalty({ type: "temporary_suspension", duration: "0 days" }),
        penalty({ type: "temporary_suspension", duration: "91 days" }),
      ],
      "body.guarantees.0.penalty.revoke": [penalty({ type: "badge_revocation", revoke: [] })],
      "body.refresh_interval_seconds": [{ refresh_interval_seconds: 1 }],
      "body.monitoring_endpoint": [{ monitoring_endpoint: "x" }],
    },
  },
  sla_dispute: {
    fields: {
      breach: BREACH,
      agent_id: addressOf(seller),
      claim: "The registry was away.",
      evidence: ["https://status.example/1"],
      requested_remedy: "remove_penalty",
    },
    by: seller,
    bad: {
      signer: [{ agent_id: addressOf(buyer) }],
      "body.breach": [{ breach: "brch_1" }],
      "body.claim": [{ claim: "" }, { claim: "x".repeat(2_001) }],
      "body.evidence": [{ evidence: Array.from({ length: 17 }, () => "https://a.example") }],
      "body.requested_remedy": [{ requested_remedy: "money" }],
    },
  },
  sla_ruling: {
    fields: { breach: BREACH, ruling: "overturned", reasons: "It was.", excuse: "registry_outage" },
    by: buyer,
    bad: {
      "body.ruling": [{ ruling: "maybe" }],
      "body.reasons": [{ reasons: "" }],
      "body.excuse": [{ excuse: "bad luck" }],
    },
  },
  sla_payment: {
    fields: { breach: BREACH, buyer: addressOf(buyer), tx_hash: HASH, log_index: 3 },
    by: seller,
    bad: { "body.tx_hash": [{ tx_hash: "ab" }], "body.log_index": [{ log_index: -1 }] },
  },
};

/** Adds the endorsed agent's signature over the endorser's body, unless a test gives a signature itself. */
async function agreed(type: string, fields: RecordBody, ledger: LedgerName): Promise<RecordBody> {
  if (type !== "endorsement" || fields.agent_signature !== undefined || fields.revoked === true)
    return fields;
  return {
    ...fields,
    agent_signature: await signBody(bindBody(fields, { type, ledger }), { account: seller }),
  };
}

describe("records of the trust score and SLAs, at POST /v1/records", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path);
  });
  afterEach(() => service.close());

  const send = async (type: string, fields: RecordBody, by: LocalAccount, ledger: LedgerName = "local") => {
    const sent = await bound(type, await agreed(type, fields, ledger), by, ledger);
    return service.post("/v1/records", { type, ...sent, signer: addressOf(by) });
  };
  const refused = (answer: Awaited<ReturnType<typeof send>>, code: string, field: string) => {
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
          refused(await send(type, { ...fields, ...change }, by), "invalid_input", field);
      }
      const body = await agreed(type, fields, "local");
      const unbound = { type, body, signature: await signBody(body, { account: by }), signer: addressOf(by) };
      refused(await service.post("/v1/records", unbound), "unbound", "body.type");
      refused(await send(type, fields, by, `0x${"2e".repeat(32)}`), "other_ledger", "body.ledger");

      const first = await send(type, fields, by);
      expect([first.status, first.json.type, first.json.index], first.text).to.deep.equal([201, type, 0]);
      expect((await send(type, fields, by)).status).to.equal(200);
    });
  }

  it("accepts an agent's consent for one endorser only, and a withdrawal without consent", async () => {
    const { fields } = GOOD.endorsement as { fields: RecordBody };
    const consent = await agreed("endorsement", fields, "local");
    const stolen = { ...consent, endorser: addressOf(seller), agent_id: addressOf(seller) };
    refused(await send("endorsement", stolen, seller), "invalid_input", "body.agent_id");
    const other = { ...consent, statement: "It is bad." };
    refused(await send("endorsement", other, buyer), "invalid_input", "body.agent_signature");
    expect((await send("endorsement", { ...fields, revoked: true }, buyer)).status).to.equal(201);
  });

  it("answers a second report for an hour's part, a second dispute and a repeated transfer with the existing record", async () => {
    const changes: [string, RecordBody][] = [
      ["uptime", { hosts: {} }],
      ["sla_dispute", { claim: "Something else." }],
      ["sla_payment", { buyer: addressOf(seller) }],
    ];
    for (const [type, change] of changes) {
      const { fields, by } = GOOD[type] as { fields: RecordBody; by: LocalAccount };
      expect((await send(type, fields, by)).status).to.equal(201);
      const second = await send(type, { ...fields, ...change }, by);
      expect([second.status, second.json.code], second.text).to.deep.equal([409, "conflicting_record"]);
    }
    const { fields } = GOOD.uptime as { fields: RecordBody };
    expect((await send("uptime", { ...fields, part: 1 }, buyer)).status, "another part").to.equal(201);
  });

  it("accepts an agent's dispute and payment also after a stranger's record of the same breach and transfer", async () => {
    // The breach and the transfer are public, so a stranger may be faster. Its record changes nothing.
    const squats: [string, RecordBody][] = [
      ["sla_dispute", { agent_id: addressOf(buyer) }],
      ["sla_payment", {}],
    ];
    for (const [type, change] of squats) {
      const { fields, by } = GOOD[type] as { fields: RecordBody; by: LocalAccount };
      expect((await send(type, { ...fields, ...change }, buyer)).status, type).to.equal(201);
      const own = await send(type, fields, by);
      expect(own.status, own.text).to.equal(201);
    }
  });
});
