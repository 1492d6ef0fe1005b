import { expect } from "chai";
import { InvalidInputError, type TallystickError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { SignedRecord } from "tallystick-protocol/records/record";
import { recordTypeNames } from "tallystick-protocol/records/recordTypes";
import type { LocalAccount } from "viem";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import { checkRecord, type RuleContext } from "../../../services/settlement/engine/recordRules.ts";
import { bound, buyer, listingBody, receiptBody, seller } from "../support/records.ts";
import { NOW } from "../support/testService.ts";

const addressOf = ({ address }: LocalAccount) => address.toLowerCase() as `0x${string}`;
const [BUYER, SELLER] = [addressOf(buyer), addressOf(seller)];
const HASH = "ab".repeat(32);
const HOUR = Math.floor(NOW / 3_600);
const outcomes = (hour: number): RecordBody => {
  const tally = { ok: 1, fail: 0, c: { ok: 0, fail: 0 }, divergence: { compared: 0, sum: 0 } };
  return { hour, part: 0, agents: { [SELLER]: tally } };
};
const auditorOf = (changes: RecordBody): RecordBody => ({
  ...{ agent_id: SELLER, operator: BUYER, capabilities: ["text.translate.en.it"], active: true },
  ...{ endpoint: "https://auditor.example/hire", issued_at: NOW, ...changes },
});

describe("the rules of a record", () => {
  let index: LedgerIndex;
  beforeEach(() => {
    index = new LedgerIndex();
  });
  afterEach(() => index.close());

  /** What the rules say: `ok`, or the code and the faults. */
  const said = async (record: SignedRecord, context: Partial<RuleContext> = {}): Promise<string> => {
    const receiptOf = async (hash: string) => (hash === HASH ? receiptBody() : undefined);
    const all = { now: NOW, devMode: false, index, operator: SELLER, claimAttestor: BUYER, receiptOf };
    try {
      await checkRecord(record, { ...all, ...context });
      return "ok";
    } catch (error) {
      if (error instanceof InvalidInputError)
        return [error.code, ...error.issues.map(({ field, message }) => `${field}: ${message}`)].join("; ");
      const { code, field, message } = error as TallystickError;
      return `${code}; ${field}: ${message}`;
    }
  };
  const flat = (type: string, body: RecordBody): SignedRecord => ({
    ...{ type, body, signer: SELLER, signature: "0x" },
  });
  const signed = async (type: string, fields: RecordBody, account: LocalAccount): Promise<SignedRecord> => {
    const { body, signature } = await bound(type, fields, account);
    return { type, body, signer: addressOf(account), signature };
  };

  it("accept a receipt from 24 hours ago to 5 minutes ahead, of the versions 0.1 to 0.3", async () => {
    const at = (completed_at: number) => said(flat("receipt", receiptBody({ completed_at })));
    expect([await at(NOW - 86_400), await at(NOW + 300)]).to.deep.equal(["ok", "ok"]);
    expect(await at(NOW - 86_401)).to.equal("receipt_too_old; body.completed_at: is more than 24 hours ago");
    expect(await at(NOW + 301)).to.equal(
      "invalid_input; body.completed_at: is more than 5 minutes in the future",
    );
    const of = (protocol_version: string) => said(flat("receipt", receiptBody({ protocol_version })));
    for (const version of ["swarmwage/v0.1", "swarmwage/v0.2", "swarmwage/v0.3"])
      expect(await of(version)).to.equal("ok");
    for (const version of ["swarmwage/v0.4", "xswarmwage/v0.3", "swarmwage/v0.33", "swarmwage/v013"])
      expect(await of(version)).to.equal(
        "unsupported_protocol; body.protocol_version: must be swarmwage/v0.1, swarmwage/v0.2 or swarmwage/v0.3",
      );
  });

  it("accept only receipts of the ledger's chain, under either of its names, and any if the ledger has no chain", async () => {
    const of = (network: string, chainId?: number) =>
      said(flat("receipt", receiptBody({ network })), { chainId });
    for (const network of ["base", "eip155:8453"]) expect(await of(network, 8_453)).to.equal("ok");
    for (const network of ["base-sepolia", "eip155:84532", "EIP155:8453", "solana"]) {
      expect(await of(network, 8_453)).to.equal(
        "other_network; body.network: must be the chain of this ledger, eip155:8453",
      );
      expect(await of(network)).to.equal("ok");
    }
  });

  it("accept a listing up to 5 minutes ahead, not before the newest one, and at private addresses only where that is allowed", async () => {
    const of = (changes: RecordBody, context: Partial<RuleContext> = {}) =>
      said(flat("listing", listingBody(changes)), context);
    expect(await of({ issued_at: NOW + 300 })).to.equal("ok");
    expect(await of({ issued_at: NOW + 301 })).to.equal(
      "invalid_input; body.issued_at: is in the future; it is unix seconds",
    );
    index.newestListing = () => 7;
    const old =
      "body.issued_at: must be at least 7, as in this agent's newest listing of the same capability and payment mode";
    expect([await of({ issued_at: 7 }), await of({ issued_at: 6 }), await of({})]).to.deep.equal([
      "ok",
      `invalid_input; ${old}`,
      `invalid_input; ${old}`,
    ]);
    const local = { endpoint: "http://127.0.0.1:8080/", issued_at: 7 };
    expect(await of(local)).to.match(/^invalid_input; body\.endpoint: .+/);
    expect(await of(local, { devMode: true })).to.equal("ok");
    expect(await of({ ...local, retired: true })).to.equal("ok");
    expect(await of({ ...local, issued_at: 6 })).to.match(/; body\.endpoint: .+; body\.issued_at: /);
  });

  it("name who has to sign, and say if there is nobody", async () => {
    const operator = "the operator of this service";
    const rating = (side: string) => ({ receipt: HASH, side, stars: 5 });
    const review = { proposal: HASH, decision: "reject", reason: "no" };
    const pulse = { size: 0, root: `0x${HASH}`, verified_at: NOW };
    const claim = { agent_id: SELLER, x_handle: "a", verification_hash: HASH, state: "verified" };
    const auditor = auditorOf({});
    const cases: [type: string, fields: RecordBody, by: LocalAccount, not: LocalAccount, who: string][] = [
      ["rating", rating("buyer"), buyer, seller, `the receipt's buyer, ${BUYER}`],
      ["rating", rating("seller"), seller, buyer, `the receipt's seller, ${SELLER}`],
      ["telemetry", { receipt: HASH, latency_ms: 1 }, buyer, seller, `the receipt's buyer, ${BUYER}`],
      ["review", review, seller, buyer, `${operator}, ${SELLER}`],
      ["params", { version: 2 }, seller, buyer, `${operator}, ${SELLER}`],
      ["pulse", pulse, seller, buyer, `${operator}, ${SELLER}`],
      ["outcomes", outcomes(HOUR - 1), seller, buyer, `${operator}, ${SELLER}`],
      ["audit_history", { hire: `0x${HASH}` }, seller, buyer, `${operator}, ${SELLER}`],
      ["auditor", auditor, seller, buyer, `the agent itself, ${SELLER}`],
      ["claim", claim, buyer, seller, `the claim attestor of this service, ${BUYER}`],
    ];
    for (const [type, fields, by, not, who] of cases) {
      expect(await said(await signed(type, fields, by)), type).to.equal("ok");
      expect(await said(await signed(type, fields, not)), type).to.equal(
        `invalid_input; signer: must be ${who}`,
      );
    }
    const nobody = await said(await signed("pulse", pulse, seller), { operator: undefined });
    expect(nobody).to.equal(`invalid_input; signer: must be ${operator}; it has none`);
    const unknown = await said(
      await signed("rating", { ...rating("buyer"), receipt: "cd".repeat(32) }, buyer),
    );
    expect(unknown).to.equal(
      "unknown_receipt; body.receipt: is not the entry hash of a receipt in this ledger",
    );
  });

  it("refuse a record with a wrong form, also if the right account has signed it", async () => {
    const cases: [type: string, fields: RecordBody, by: LocalAccount, field: string][] = [
      [
        "claim",
        { agent_id: SELLER, x_handle: "@a", verification_hash: HASH, state: "verified" },
        buyer,
        "x_handle",
      ],
      ["review", { proposal: HASH, decision: "maybe", reason: "no" }, seller, "decision"],
      ["params", { version: -1 }, seller, "version"],
      ["pulse", { size: -1, root: `0x${HASH}`, verified_at: NOW }, seller, "size"],
      ["stake", { task_id: "", proposal: HASH }, buyer, "task_id"],
    ];
    for (const [type, fields, by, field] of cases)
      expect(await said(await signed(type, fields, by)), type).to.match(
        new RegExp(`^invalid_input; body\\.${field}: .`),
      );
  });

  it("let the clock of an agent be 5 minutes ahead", async () => {
    const late = "is in the future; it is unix seconds";
    const offer = async (issued_at: number) =>
      said(await signed("auditor", auditorOf({ issued_at }), seller));
    expect(await offer(NOW + 300)).to.equal("ok");
    expect(await offer(NOW + 301)).to.equal(`invalid_input; body.issued_at: ${late}`);
    const endorsed = async (issued_at: number) =>
      said(
        await signed("endorsement", { endorser: BUYER, agent_id: SELLER, revoked: true, issued_at }, buyer),
      );
    expect(await endorsed(NOW + 300)).to.equal("ok");
    expect(await endorsed(NOW + 301)).to.equal(`invalid_input; body.issued_at: ${late}`);
    const hour = Math.floor((NOW + 300) / 3_600);
    expect(await said(await signed("outcomes", outcomes(hour - 1), seller))).to.equal("ok");
    expect(await said(await signed("outcomes", outcomes(hour), seller))).to.equal(
      "invalid_input; body.hour: is not over yet; it is unix seconds / 3600",
    );
    const local = auditorOf({ endpoint: "http://127.0.0.1/" });
    expect(await said(await signed("auditor", local, seller))).to.match(/^invalid_input; body\.endpoint: ./);
    expect(await said(await signed("auditor", local, seller), { devMode: true })).to.equal("ok");
  });

  it("refuse too many unknown keys of a listing and of a receipt, and name the chain's service for another chain", async () => {
    const note = "x".repeat(5_000);
    const unknown = /^invalid_input; body\.note: is no field of the schema; such keys may have 4096 bytes/;
    expect(await said(flat("listing", listingBody({ note })))).to.match(unknown);
    expect(await said(flat("receipt", receiptBody({ note })))).to.match(unknown);
    const other = flat("receipt", receiptBody({ network: "solana" }));
    const context = { now: NOW, index, chainId: 8_453 } as unknown as RuleContext;
    const error = await checkRecord(other, context).catch((it) => it);
    expect(error).to.have.property("hint", "Send it to the settlement service of that chain.");
  });

  it("say why a stake or a vote would change nothing", async () => {
    const vote = await signed("verify", { task_id: "t", proposal: HASH }, buyer);
    expect(await said(vote)).to.equal("consensus_refused; body.proposal: Nobody has staked this proposal.");
    const sentences = {
      task_final: "The task is final: no further stake or vote on it counts.",
      staked_already: "This proposal is staked already; verify or contest it.",
      own_proposal: "Whoever staked a proposal has no vote on it.",
      voted_already: "This signer has voted on this proposal.",
      stake_closed: "This stake is closed, because it did not become final within 30 days.",
    };
    for (const [refusal, sentence] of Object.entries(sentences)) {
      index.consensus.refusal = () => refusal as keyof typeof sentences;
      expect(await said(vote)).to.equal(`consensus_refused; body.proposal: ${sentence}`);
      const error = await checkRecord(vote, { now: NOW, index } as unknown as RuleContext).catch((it) => it);
      expect(error).to.deep.include({
        details: { refusal },
        hint: "GET /v1/status/{task_id} shows the proposals of a task and their votes.",
      });
    }
  });

  it("name the types that there are for a record of another type", async () => {
    expect(await said(flat("praise", {}))).to.equal(
      `invalid_input; type: must be one of ${recordTypeNames.join(", ")}`,
    );
  });
});
