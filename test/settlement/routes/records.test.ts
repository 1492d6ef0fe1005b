import { createHash } from "node:crypto";
import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import { recordDigest, recordPayload, signBody, signRecord } from "tallystick-protocol/records/record";
import { recordTypeNames, recordTypeRoutes } from "tallystick-protocol/records/recordTypes";
import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { bound, buyer, envelope, flat, listingBody, receiptBody, seller } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "../support/testService.ts";

const stranger = privateKeyToAccount(`0x${"33".repeat(32)}`);
const agents = [4, 5, 6, 7].map((n) => privateKeyToAccount(`0x${String(n).repeat(64)}`));

describe("records over HTTP", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path);
  });
  afterEach(() => service.close());

  const refused = async (path: string, body: unknown, status: number, code: string, field?: string) => {
    const size = service.ledger.size;
    const answer = await service.post(path, body);
    expect([answer.status, answer.json.code], answer.text).to.deep.equal([status, code]);
    expect(answer.type).to.equal("application/problem+json");
    if (field) expect(answer.json.errors[0].field).to.equal(field);
    expect(service.ledger.size).to.equal(size);
    return answer;
  };
  const settleReceipt = async (
    changes: RecordBody = {},
  ): Promise<{ hash: string; rating_tokens: { buyer: string; seller: string } }> => {
    const answer = await service.post("/v1/receipts", await envelope(receiptBody(changes)));
    expect(answer.status, answer.text).to.equal(201);
    return answer.json;
  };

  it("are refused as invalid, also if a value cannot become text because it has a key such as toString", async () => {
    const junk = { toString: "x", valueOf: 1 };
    const fields = ["agent_id", "attempt", "breach", "day", "hire", "hire_id", "hour", "log_index", "part"];
    fields.push("proposal", "receipt", "round", "side", "task_id", "tx_hash");
    const body = { ledger: "local", ...Object.fromEntries(fields.map((field) => [field, junk])) };
    const sign = { signature: `0x${"11".repeat(65)}`, signer: `0x${"22".repeat(20)}` };
    const routes = new Map<string, string>(recordTypeRoutes.map(({ type, path }) => [type, path]));
    for (const type of recordTypeNames) {
      if (type === "review") continue;
      const sent = { type, body: { type, ...body }, ...sign };
      await refused(routes.get(type) ?? "/v1/records", sent, 400, "invalid_input");
    }
  });

  it("answer another receipt of the same hire with 409 and the existing one", async () => {
    const first = await settleReceipt();
    const other = await envelope(receiptBody({ amount_usdc_atomic: "500001" }));
    const { json } = await refused("/v1/receipts", other, 409, "conflicting_record");
    expect(json.existing).to.deep.equal({ hash: first.hash, index: 0, timestamp: NOW });
    const both = await Promise.all(
      ["1", "2"].map(async (amount) =>
        service.post(
          "/v1/receipts",
          await envelope(receiptBody({ hire_id: "rcpt_02", amount_usdc_atomic: amount })),
        ),
      ),
    );
    expect(both.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
  });

  it("accept offers of clarification for custom capabilities only", async () => {
    const clarified = { clarification_supported: true };
    const standard = await envelope(listingBody(clarified));
    await refused("/v1/listings", standard, 400, "invalid_input", "body.clarification_supported");
    const custom = await envelope(listingBody({ ...clarified, capability: "custom.acme.research" }));
    expect((await service.post("/v1/listings", custom)).status).to.equal(201);
  });

  it("accept several payment modes of one capability, and a retirement", async () => {
    for (const payment_mode of [
      "direct",
      "platform_escrow:swarmwage-partnered",
      "custom_escrow:https://x.example",
    ]) {
      expect(
        (await service.post("/v1/listings", await envelope(listingBody({ payment_mode })))).status,
      ).to.equal(201);
    }
    const retired = await envelope(listingBody({ retired: true, issued_at: NOW }));
    expect((await service.post("/v1/listings", retired)).status).to.equal(201);
  });

  describe("keys that are in no schema", () => {
    const note = (bytes: number) => "x".repeat(bytes - '"note":""'.length);
    const verification = { all_passed: true, checks: { non_empty: true } };
    const cases: [what: string, path: string, body: (bytes: number) => RecordBody, field: string][] = [
      ["a listing", "/v1/listings", (bytes) => listingBody({ note: note(bytes) }), "body.note"],
      [
        "a listing's audit",
        "/v1/listings",
        (bytes) => listingBody({ audit: "x".repeat(bytes - '"audit":""'.length) }),
        "body.audit",
      ],
      ["a receipt", "/v1/receipts", (bytes) => receiptBody({ note: note(bytes) }), "body.note"],
      [
        "a receipt's verification",
        "/v1/receipts",
        (bytes) => receiptBody({ verification: { ...verification, note: note(bytes) } }),
        "body.verification.note",
      ],
      [
        "one of a receipt's checks",
        "/v1/receipts",
        (bytes) =>
          receiptBody({
            verification: { all_passed: true, checks: [{ name: "a", passed: true, note: note(bytes) }] },
          }),
        "body.verification.checks.0.note",
      ],
    ];
    for (const [what, path, body, field] of cases) {
      it(`may have 4,096 bytes in ${what}, and no more`, async () => {
        await refused(path, await envelope(body(4_097)), 400, "invalid_input", field);
        expect((await service.post(path, await envelope(body(4_096)))).status).to.equal(201);
      });
    }

    it("are counted together, in bytes, and the longest is named as the sender wrote it", async () => {
      const body = receiptBody({ a: "é".repeat(1_000), b: "é".repeat(1_100) });
      const { json } = await refused("/v1/receipts", await flat(body), 400, "invalid_input", "b");
      expect(json.detail).to.contain("4096 bytes in all").and.to.contain("1 more have 4212");
    });

    it("are refused as names of checks too", async () => {
      for (const names of [Array.from({ length: 257 }, (_, n) => `check ${n}`), ["x".repeat(129)]]) {
        const checks = Object.fromEntries(names.map((name) => [name, true]));
        const body = await envelope(receiptBody({ verification: { all_passed: true, checks } }));
        await refused("/v1/receipts", body, 400, "invalid_input", "body.verification.checks");
      }
    });
  });

  describe("POST /v1/records", () => {
    const operator = privateKeyToAccount(`0x${"55".repeat(32)}`);
    const pulse = { size: 0, root: `0x${"ab".repeat(32)}`, verified_at: NOW };
    beforeEach(async () => {
      await service.close();
      service = await openTestService(folder.path, { OPERATOR: operator.address });
    });

    it("accepts a record of a type without a route of its own, with the same rules", async () => {
      const signed = { type: "pulse", ...(await bound("pulse", pulse, operator)) };
      const answer = await service.post("/v1/records", signed);
      expect([answer.status, answer.json.type, answer.json.index], answer.text).to.deep.equal([
        201,
        "pulse",
        0,
      ]);
      expect((await service.post("/v1/records", signed)).status).to.equal(200);
      const foreign = { type: "pulse", ...(await bound("pulse", pulse, stranger)) };
      await refused("/v1/records", foreign, 400, "invalid_input", "signer");
      const other = { ...signed, type: "claim" };
      await refused("/v1/records", other, 400, "other_type", "body.type");
    });

    it("names the route of every other type, and the types that it accepts", async () => {
      const rest = { body: {}, signature: "0x" };
      for (const [type, said] of [
        ["listing", "POST /v1/listings"],
        ["telemetry", "POST /telemetry"],
        ["review", "POST /v1/reviews/{id}"],
        ["settlement", "must be one of claim, pulse"],
        [undefined, "must be one of claim, pulse"],
        [7, "must be one of claim, pulse"],
      ] as const) {
        const { json } = await refused("/v1/records", { ...rest, type }, 400, "invalid_input", "type");
        expect(json.detail).to.contain(said);
      }
      for (const body of ["[]", "null", '"text"'])
        await refused("/v1/records", body, 400, "invalid_input", "body");
    });
  });

  describe("POST /v1/rate", () => {
    const rated = async (body: RecordBody, account: LocalAccount, more: object = {}) => {
      return { ...(await bound("rating", body, account)), ...more };
    };
    const rating = (receipt: string, side: "buyer" | "seller", more: RecordBody = {}): RecordBody => {
      return { receipt, side, stars: 5, latency_ms: 6200, ...more };
    };

    it("settles one rating for each side, with the receipt's token", async () => {
      const { hash, rating_tokens } = await settleReceipt();
      expect(rating_tokens).to.deep.equal({
        buyer: ratingToken(hash, "buyer"),
        seller: ratingToken(hash, "seller"),
      });
      const byBuyer = await rated(rating(hash, "buyer"), buyer, { rating_token: rating_tokens.buyer });
      const bySeller = await rated(rating(hash, "seller"), seller, { rating_token: rating_tokens.seller });
      const first = await service.post("/v1/rate", byBuyer);
      expect([first.status, first.json.type], first.text).to.deep.equal([201, "rating"]);
      expect((await service.post("/v1/rate", bySeller)).status).to.equal(201);
      expect((await service.post("/v1/rate", byBuyer)).status).to.equal(200);
      const second = await rated(rating(hash, "buyer", { stars: 1 }), buyer, {
        rating_token: rating_tokens.buyer,
      });
      expect((await refused("/v1/rate", second, 409, "conflicting_record")).json.existing.index).to.equal(1);
    });

    it("stores only the hash of a comment, in the body", async () => {
      const { hash, rating_tokens } = await settleReceipt();
      const comment = "schnell & gut ✓";
      const comment_hash = createHash("sha256").update(comment).digest("hex");
      const more = { rating_token: rating_tokens.buyer, comment };
      const wrong = await rated(rating(hash, "buyer"), buyer, more);
      await refused("/v1/rate", wrong, 400, "invalid_input", "body.comment_hash");
      const answer = await service.post(
        "/v1/rate",
        await rated(rating(hash, "buyer", { comment_hash }), buyer, more),
      );
      expect(answer.status, answer.text).to.equal(201);
      expect((await service.ledger.entry(1)).payload).not.to.have.property("comment");
    });

    it("refuses a wrong token, invalid stars, an unknown receipt and everybody except the side that rates", async () => {
      const { hash, rating_tokens } = await settleReceipt();
      const token = { rating_token: rating_tokens.buyer };
      const good = rating(hash, "buyer");
      const cases: [unknown, string, string][] = [
        [await rated(good, buyer), "invalid_input", "rating_token"],
        [await rated(good, buyer, { rating_token: rating_tokens.seller }), "invalid_input", "rating_token"],
        [await rated({ ...good, stars: 0 }, buyer, token), "invalid_input", "body.stars"],
        [await rated({ ...good, stars: 6 }, buyer, token), "invalid_input", "body.stars"],
        [await rated(good, seller, token), "invalid_input", "signer"],
        [await rated(good, stranger, token), "invalid_input", "signer"],
        [
          await rated(rating("ab".repeat(32), "buyer"), buyer, {
            rating_token: ratingToken("ab".repeat(32), "buyer"),
          }),
          "unknown_receipt",
          "body.receipt",
        ],
        [
          { ...(await rated(good, stranger, token)), signer: buyer.address.toLowerCase() },
          "invalid_signature",
          "signature",
        ],
        [{ body: { type: "rating", ledger: "local", ...good }, ...token }, "invalid_input", "signer"],
        [await rated(good, buyer, { ...token, note: "x" }), "invalid_input", "note"],
      ];
      for (const [body, code, field] of cases) await refused("/v1/rate", body, 400, code, field);
    });

    it("does not accept the hash of another record in place of a receipt's", async () => {
      const { json } = await service.post("/v1/listings", await envelope(listingBody()));
      const body = await rated(rating(json.hash, "buyer"), buyer, {
        rating_token: ratingToken(json.hash, "buyer"),
      });
      await refused("/v1/rate", body, 400, "unknown_receipt", "body.receipt");
    });
  });

  describe("POST /telemetry", () => {
    const measured = (body: RecordBody, account: LocalAccount) => bound("telemetry", body, account);
    it("settles the buyer's measurements for a receipt, once", async () => {
      const { hash: receipt } = await settleReceipt();
      const body = { receipt, latency_ms: 812, verification: { all_passed: true } };
      expect((await service.post("/telemetry", await measured(body, buyer))).status).to.equal(201);
      expect((await service.post("/telemetry", await measured(body, buyer))).status).to.equal(200);
      await refused(
        "/telemetry",
        await measured({ ...body, latency_ms: 1 }, buyer),
        409,
        "conflicting_record",
      );
    });

    it("refuses records by others, and malformed figures", async () => {
      const { hash: receipt } = await settleReceipt();
      await refused("/telemetry", await measured({ receipt }, seller), 400, "invalid_input", "signer");
      await refused(
        "/telemetry",
        await measured({ receipt, latency_ms: -1 }, buyer),
        400,
        "invalid_input",
        "body.latency_ms",
      );
      await refused(
        "/telemetry",
        await measured({ receipt: "x" }, buyer),
        400,
        "invalid_input",
        "body.receipt",
      );
    });
  });

  describe("consensus", () => {
    const proposal = "cd".repeat(32);
    const say = async (type: string, account: LocalAccount, body: RecordBody = {}) =>
      service.post(`/v1/${type}`, await bound(type, { task_id: "task-9", proposal, ...body }, account));
    const consensus = async () => (await service.get("/v1/status/task-9")).json.consensus;

    it("goes from a stake through two verifies to finality, and every step can be read", async () => {
      expect((await service.get("/v1/status/task-9")).status).to.equal(404);
      const [staker, one, two, late] = agents as [LocalAccount, LocalAccount, LocalAccount, LocalAccount];
      expect((await say("stake", staker)).status).to.equal(201);
      expect(await consensus()).to.deep.include({ final: null, final_at: null });
      expect((await say("verify", one, { verdict: "same result" })).status).to.equal(201);
      expect((await say("verify", two)).status).to.equal(201);
      const { final, final_at, proposals } = await consensus();
      expect({ final, final_at }).to.deep.equal({ final: proposal, final_at: 2 });
      expect(proposals[0]).to.deep.include({ staker: staker.address.toLowerCase(), contests: [] });
      const answer = await say("contest", late);
      expect([answer.status, answer.json.code]).to.deep.equal([409, "consensus_refused"]);
      await service.close();
      service = await openTestService(folder.path);
      expect(await consensus()).to.deep.equal({ final, final_at, proposals });
    });

    it("closes a stake without a final result thirty days after it was made, also after a restart", async () => {
      const [staker, one, two, late] = agents as [LocalAccount, LocalAccount, LocalAccount, LocalAccount];
      await say("stake", staker);
      service.clock.now += 30 * 86_400;
      expect((await say("verify", one)).status).to.equal(201);
      const open = await consensus();
      await service.close();
      service = await openTestService(folder.path);
      service.clock.now = NOW + 30 * 86_400 + 1;
      for (const [type, account] of [
        ["verify", two],
        ["contest", late],
      ] as const) {
        const answer = await say(type, account);
        expect([answer.status, answer.json.code], answer.text).to.deep.equal([409, "consensus_refused"]);
        expect(answer.json.detail).to.contain("30 days");
      }
      expect(await consensus()).to.deep.equal(open);
      expect(open).to.include({ final: null });
      // Another proposal for the same task can still be staked.
      expect((await say("stake", two, { proposal: "ef".repeat(32) })).status).to.equal(201);
    });

    it("counts no record that was signed for another ledger, as an imported ledger has them", async () => {
      const [staker, one, two] = agents as [LocalAccount, LocalAccount, LocalAccount];
      const foreign = async (type: string, account: LocalAccount, ledger: LedgerName) => {
        const body = { task_id: "task-9", proposal };
        const record = await signRecord({ type, ledger, body, account });
        const entry = { timestamp: NOW, taskId: recordDigest(record.body), payload: recordPayload(record) };
        await service.ledger.append(entry).durable;
      };
      const other = `0x${"12".repeat(32)}` as const;
      await foreign("stake", staker, other);
      await foreign("verify", one, other);
      await foreign("verify", two, other);
      await service.close();
      service = await openTestService(folder.path);
      expect((await service.get("/v1/status/task-9")).status).to.equal(404);
      // Foreign records do not block the same records for this ledger.
      expect((await say("stake", staker)).status).to.equal(201);
      expect((await say("verify", one)).status).to.equal(201);
      expect(await consensus()).to.deep.include({ final: null });
      expect((await say("verify", two)).status).to.equal(201);
      expect(await consensus()).to.deep.include({ final: proposal, final_at: 5 });
    });

    it("counts the older form until the ledger's first record of the new form, like the derivation", async () => {
      const [staker, one, two, late] = agents as [LocalAccount, LocalAccount, LocalAccount, LocalAccount];
      const unbound = async (type: string, account: LocalAccount) => {
        const body = { task_id: "task-9", proposal };
        const signature = await signBody(body, { account });
        const signer = account.address.toLowerCase() as `0x${string}`;
        const payload = recordPayload({ type, body, signer, signature });
        await service.ledger.append({ timestamp: NOW, taskId: recordDigest(body), payload }).durable;
      };
      await unbound("stake", staker);
      await unbound("verify", one);
      expect((await say("contest", late)).status).to.equal(201);
      await unbound("verify", two);
      const [only] = (await consensus()).proposals;
      expect([only.verify_count, only.contest_count]).to.deep.equal([1, 1]);
    });

    it("refuses a vote by the staker, a second vote by a signer, and a vote without a stake", async () => {
      const [staker, one] = agents as [LocalAccount, LocalAccount];
      expect((await say("verify", one)).json.code).to.equal("consensus_refused");
      await say("stake", staker);
      expect((await say("stake", one)).status).to.equal(409);
      expect((await say("verify", staker)).json.code).to.equal("consensus_refused");
      expect((await say("verify", one)).status).to.equal(201);
      expect((await say("verify", one)).status).to.equal(200);
      expect((await say("contest", one)).status).to.equal(409);
      expect((await say("stake", one, { proposal: "short" })).json.errors[0].field).to.equal("body.proposal");
      expect((await say("stake", one, { task_id: "" })).json.errors[0].field).to.equal("body.task_id");
      expect(service.ledger.size).to.equal(2);
    });
  });

  it("of the operator are accepted from the operator only", async () => {
    const published = (body: RecordBody, account: LocalAccount) => bound("params", body, account);
    const params = await published({ version: 2 }, stranger);
    await refused("/v1/params", params, 400, "invalid_input", "signer");
    await service.close();
    service = await openTestService(folder.path, { OPERATOR: stranger.address });
    expect((await service.post("/v1/params", params)).status).to.equal(201);
    await refused(
      "/v1/params",
      await published({ version: -1 }, stranger),
      400,
      "invalid_input",
      "body.version",
    );
  });

  it("are checked, but not written, in a sandbox", async () => {
    await service.close();
    service = await openTestService(folder.path, { SETTLEMENT_MODE: "sandbox" });
    const answer = await service.post("/v1/listings", await envelope(listingBody()));
    expect([answer.status, answer.json]).to.deep.equal([
      200,
      { type: "listing", status: "VALIDATED", mode: "sandbox" },
    ]);
    await refused("/v1/listings", await envelope(listingBody({ capability: "x" })), 400, "invalid_input");
    expect(service.ledger.size).to.equal(0);
  });
});
