import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { parsePythonJson } from "tallystick-protocol/json/pythonJson";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { canaryCommitment } from "tallystick-protocol/records/auditCanary";
import { bindBody, checkBinding, isBoundType } from "tallystick-protocol/records/binding";
import { checkPayeeSignature } from "tallystick-protocol/records/listing";
import { checkBuyerSignature } from "tallystick-protocol/records/receipt";
import { signBody } from "tallystick-protocol/records/record";
import { type RecordType, recordTypeNames } from "tallystick-protocol/records/recordTypes";
import { privateKeyToAccount } from "viem/accounts";
import { readSignedRecord } from "../../../services/settlement/engine/readSignedRecord.ts";
import { checkRecord, type RuleContext } from "../../../services/settlement/engine/recordRules.ts";
import { checkSignature } from "../../../services/settlement/signatures/checkSignature.ts";
import type { Verifier } from "./verifier.ts";

const NOW = 1_767_225_600;
const LEDGER: Hex = `0x${"1e".repeat(32)}`;
const RECEIPT = "ab".repeat(32);
const [agent, buyer, payee] = ["11", "22", "33"].map((byte) =>
  privateKeyToAccount(`0x${byte.repeat(32)}`),
) as [
  ReturnType<typeof privateKeyToAccount>,
  ReturnType<typeof privateKeyToAccount>,
  ReturnType<typeof privateKeyToAccount>,
];
const addressOf = (account: { address: string }) => account.address.toLowerCase() as Address;

const receipt: RecordBody = {
  agent_id: addressOf(agent),
  buyer: addressOf(buyer),
  capability: "text.summarize",
  hire_id: "hire-1",
  tx_hash: `0x${"cd".repeat(32)}`,
  log_index: 3,
  amount_usdc_atomic: "500000",
  network: "eip155:8453",
  completed_at: NOW,
  protocol_version: "swarmwage/v0.3",
  verification: { all_passed: true, checks: { schema: true } },
  latency_ms: 120,
};

const listing: RecordBody = {
  agent_id: addressOf(agent),
  capability: "custom.drawing",
  price_usdc: "0.50",
  max_latency_ms: 1000,
  endpoint: "https://seller.example/hire",
  payee: addressOf(payee),
  issued_at: NOW - 1,
};

const HIRE = `0x${"fe".repeat(32)}-3`;
const canaries = {
  salt: `0x${"5a".repeat(32)}` as Hex,
  hires: [{ buyer: addressOf(buyer), nonce: "first", truth: "bad" as const }],
};

const BREACH = `brch_${"0".repeat(26)}`;
const reports = { report_hash: `0x${"cd".repeat(32)}`, outcomes_hash: `0x${"ef".repeat(32)}` };

/** A body of each record type, and its signer. */
const bodies: { [type in RecordType]: { fields: RecordBody; by: typeof agent } } = {
  listing: { fields: listing, by: agent },
  receipt: { fields: receipt, by: agent },
  rating: { fields: { receipt: RECEIPT, side: "buyer", stars: 5, latency_ms: 100 }, by: buyer },
  telemetry: {
    fields: {
      receipt: RECEIPT,
      latency_ms: 100,
      verification: { all_passed: true, checks: { schema: true } },
    },
    by: buyer,
  },
  claim: {
    fields: {
      agent_id: addressOf(agent),
      x_handle: "ada",
      verification_hash: "a".repeat(64),
      state: "claimed",
    },
    by: buyer,
  },
  stake: { fields: { task_id: "task-1", proposal: RECEIPT }, by: buyer },
  verify: { fields: { task_id: "task-1", proposal: RECEIPT, verdict: "good" }, by: buyer },
  contest: { fields: { task_id: "task-1", proposal: RECEIPT, verdict: "bad" }, by: buyer },
  review: { fields: { proposal: RECEIPT, decision: "release", reason: "fine" }, by: buyer },
  params: { fields: { version: 2, minHireAtomic: "2000", operator: addressOf(buyer) }, by: buyer },
  pulse: { fields: { size: 7, root: `0x${RECEIPT}`, verified_at: NOW }, by: buyer },
  auditor: {
    fields: {
      agent_id: addressOf(agent),
      operator: addressOf(buyer),
      capabilities: ["text.summarize"],
      endpoint: "https://auditor.example/hire",
      active: true,
      issued_at: NOW,
    },
    by: agent,
  },
  audit_verdict: {
    fields: {
      hire: HIRE,
      round: 1,
      attempt: 2,
      verdict: "fail",
      reasons: [{ code: "off_topic", detail: "It is of something else." }],
      params_hash: `0x${"cd".repeat(32)}`,
      result_hash: `0x${"ef".repeat(32)}`,
    },
    by: agent,
  },
  audit_judge: { fields: { hire: HIRE, round: 1, models: ["one", "two"] }, by: buyer },
  audit_actuation: {
    fields: { hire: HIRE, decision: "rollback", reasons: [{ code: "fabricated", detail: "" }] },
    by: buyer,
  },
  audit_mode: {
    fields: { capability: "text.summarize", mode: "bootstrap", justification: "A ring was found." },
    by: buyer,
  },
  audit_canary: { fields: { commitment: canaryCommitment(canaries), reveal: canaries }, by: buyer },
  audit_history: { fields: { hire: HIRE }, by: buyer },
  attestation: {
    fields: {
      agent_id: addressOf(agent),
      version: "4.0.0",
      commit: "ab".repeat(20),
      runs: ["1", "2"].map((seed) => ({ seed, passing: 3, total: 4, flaky: 1, ...reports })),
      ran_at: NOW,
    },
    by: agent,
  },
  uptime: {
    fields: {
      hour: Math.floor(NOW / 3600) - 1,
      region: "eu",
      part: 0,
      hosts: { "seller.example:443": [4095, 3] },
      served: { [addressOf(agent)]: ["seller.example:443"] },
    },
    by: buyer,
  },
  endorsement: {
    fields: {
      endorser: addressOf(buyer),
      agent_id: addressOf(agent),
      capability: "text.summarize",
      issued_at: NOW,
    },
    by: buyer,
  },
  sla: {
    fields: {
      agent_id: addressOf(agent),
      version: "1.0.0",
      guarantees: [
        {
          metric: "latency_p99",
          target: "5000",
          unit: "milliseconds",
          measurement_window: "7 days",
          breach_threshold: "7500",
          penalty: { type: "trust_score_reduction", amount: "0.05" },
        },
      ],
      issued_at: NOW,
    },
    by: agent,
  },
  sla_dispute: {
    fields: {
      breach: BREACH,
      agent_id: addressOf(agent),
      claim: "The registry was away.",
      evidence: ["https://status.example/1"],
      requested_remedy: "remove_penalty",
    },
    by: agent,
  },
  monitoring: {
    fields: {
      day: Math.floor(NOW / 86_400),
      part: 0,
      agents: {
        [addressOf(agent)]: {
          endpoint: "https://agent.example/sla",
          asked_at: NOW,
          differences: [
            { metric: "uptime", measurement_window: "30 days", measured: "0.94", claimed: "1" },
            { metric: "latency_p99", measurement_window: "7 days", measured: "900.5", claimed: null },
          ],
        },
        [addressOf(payee)]: { endpoint: "https://other.example/sla", asked_at: NOW - 1, differences: [] },
      },
    },
    by: buyer,
  },
  sla_ruling: { fields: { breach: BREACH, ruling: "upheld", reasons: "It was not." }, by: buyer },
  outcomes: {
    fields: {
      hour: Math.floor(NOW / 3_600) - 1,
      part: 0,
      agents: {
        [addressOf(agent)]: {
          ok: 4,
          fail: 2,
          c: { ok: 1_500, fail: 600 },
          divergence: { compared: 3, sum: 70_000 },
        },
        [addressOf(payee)]: { ok: 1, fail: 0, c: { ok: 100, fail: 0 }, divergence: { compared: 0, sum: 0 } },
      },
    },
    by: buyer,
  },
  sla_payment: {
    fields: { breach: BREACH, buyer: addressOf(buyer), tx_hash: `0x${"cd".repeat(32)}`, log_index: 3 },
    by: agent,
  },
};

/** What the rules look up in the ledger. The ledger has only the receipt, and nothing that causes another refusal. */
const context: RuleContext = {
  now: NOW,
  devMode: false,
  index: {
    newestListing: () => undefined,
    consensus: { refusal: () => undefined },
  } as unknown as RuleContext["index"],
  operator: addressOf(buyer),
  claimAttestor: addressOf(buyer),
  receiptOf: async (hash) => (hash === RECEIPT ? receipt : undefined),
};

/** The body of an endorsement, with the endorsed agent's own signature. */
async function withConsent(body: RecordBody): Promise<RecordBody> {
  if (body.type !== "endorsement") return body;
  return { ...body, agent_signature: await signBody(body, { account: agent }) };
}

const NOBODY_NAMED = "then the signer is the agent of the body, or the account whose key signed";

/** The checks of settlement for a record: its form, its ledger, the rules of its type, and its signature. */
const recordRow = (type: RecordType): Verifier => ({
  name: `a signed ${type}`,
  input: async () => {
    const { fields, by } = bodies[type];
    const body = await withConsent(bindBody(fields, { type, ledger: LEDGER }));
    const signature = await signBody(body, { account: by });
    return { sent: { type, body, signer: addressOf(by), signature }, ledger: LEDGER };
  },
  judge: async ({ sent, ledger }: { sent: unknown; ledger: Hex }) => {
    const { record } = readSignedRecord(parsePythonJson(JSON.stringify(sent ?? null)), type);
    checkBinding(record, ledger);
    await checkRecord(record, context);
    await checkSignature(record, undefined);
  },
  given: /^(?:$|ledger$)/,
  // The whole body is signed. So any change of the body that keeps it well-formed makes the signature invalid.
  says: [
    ...(type === "audit_canary" ? [{ at: /^sent\.body\.reveal/, words: /signature|commitment/ }] : []),
    { at: /^sent\.(?:body|signer$)/, words: /signature|signer/ },
    { at: /^sent\.body\.agent_id$/, words: /signer/ },
    { at: /^sent\.body$/, words: /agent_id/ },
    { at: /^sent$/, words: /another|JSON object/ },
  ],
  taken: [
    {
      at: /^sent\.type missing/,
      why: "the URL path and the signed body have the type too",
    },
    ...(type === "claim" || type === "endorsement"
      ? []
      : [{ at: /^sent\.signer (?:missing|null)/, why: NOBODY_NAMED }]),
    ...(isBoundType(type) ? [] : [{ at: /^ledger/, why: "listings and receipts are not bound to a ledger" }]),
  ],
});

export const recordRows: Verifier[] = [
  ...recordTypeNames.map(recordRow),
  {
    name: "the buyer's signature in a receipt",
    input: async () => ({ ...receipt, buyer_signature: await signBody(receipt, { account: buyer }) }),
    judge: (body: RecordBody) => (checkBuyerSignature(body) ? undefined : "buyer_signature does not hold"),
    says: [{ at: /^/, words: /buyer_signature/ }],
  },
  {
    name: "the payee's signature in a listing",
    input: async () => ({ ...listing, payee_signature: await signBody(listing, { account: payee }) }),
    judge: (body: RecordBody) => (checkPayeeSignature(body) ? undefined : "payee_signature does not hold"),
    says: [{ at: /^/, words: /payee_signature/ }],
    taken: [{ at: /^payee missing/, why: "then the agent itself is paid, and no other account must sign" }],
  },
];
