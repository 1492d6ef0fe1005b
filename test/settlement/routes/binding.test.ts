import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import { signBody } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { bound, buyer, envelope, receiptBody, seller } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { openTestService, type TestService } from "../support/testService.ts";

const operator = privateKeyToAccount(`0x${"55".repeat(32)}`);
const OTHER = `0x${"2e".repeat(32)}` as const;

describe("the routes that take records", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path, { OPERATOR: operator.address });
  });
  afterEach(() => service.close());

  const refused = async (path: string, sent: unknown, code: string, field: string) => {
    const { size } = service.ledger;
    const { status, json, text } = await service.post(path, sent);
    expect([status, json.code, json.errors?.[0].field], `${path} ${text}`).to.deep.equal([400, code, field]);
    expect(service.ledger.size).to.equal(size);
  };
  /** A record for each route, and its signer. The first two entries of the ledger are a receipt and a stake. */
  const all = async () => {
    const { hash: receipt } = (await service.post("/v1/receipts", await envelope(receiptBody()))).json;
    const work = { task_id: "task-9", proposal: "cd".repeat(32) };
    await service.post("/v1/stake", await bound("stake", work, seller));
    const rating = { receipt, side: "buyer", stars: 1 };
    const tokens = { rating_token: ratingToken(receipt, "buyer") };
    const said: { path: string; type: string; body: RecordBody; by: LocalAccount; beside: object }[] = [
      { path: "/v1/rate", type: "rating", body: rating, by: buyer, beside: tokens },
      { path: "/telemetry", type: "telemetry", body: { receipt }, by: buyer, beside: {} },
      { path: "/v1/stake", type: "stake", body: { ...work, task_id: "other" }, by: buyer, beside: {} },
      { path: "/v1/verify", type: "verify", body: work, by: buyer, beside: {} },
      { path: "/v1/contest", type: "contest", body: work, by: operator, beside: {} },
      { path: "/v1/params", type: "params", body: { version: 2 }, by: operator, beside: {} },
    ];
    return said;
  };

  it("refuse a record that is signed for another type or another ledger, and say what is required", async () => {
    for (const { path, type, body, by, beside } of await all()) {
      const send = async (fields: RecordBody) => {
        return { body: fields, signature: await signBody(fields, { account: by }), ...beside };
      };
      await refused(path, await send(body), "unbound", "body.type");
      await refused(path, await send({ ...body, type, ledger: OTHER }), "other_ledger", "body.ledger");
      await refused(path, await send({ ...body, type, ledger: "LOCAL" }), "other_ledger", "body.ledger");
      await refused(path, await send({ ...body, type: "pulse", ledger: "local" }), "other_type", "body.type");
      const flat = { ...body, type, ledger: "local" };
      const signature = await signBody(flat, { account: by });
      await refused(path, { ...flat, signature, ...beside }, "unbound", "body");
      const good = await send({ ...body, type, ledger: "local" });
      expect((await service.post(path, good)).status, path).to.equal(201);
      // The rule also holds for a record that the ledger already has.
      await refused(path, await send(body), "unbound", "body.type");
    }
  });

  it("refuse a contest in place of a verify, and a stake that was signed for another ledger", async () => {
    const work = { task_id: "task-9", proposal: "cd".repeat(32) };
    await service.post("/v1/stake", await bound("stake", work, seller));
    const contest = await bound("contest", work, buyer);
    await refused("/v1/verify", contest, "other_type", "body.type");
    expect((await service.post("/v1/contest", contest)).status).to.equal(201);
    await refused("/v1/verify", contest, "other_type", "body.type");
    const staked = await bound("stake", work, operator, OTHER);
    await refused("/v1/verify", staked, "other_type", "body.type");
    await refused("/v1/stake", staked, "other_ledger", "body.ledger");
  });

  it("refuse a rating in place of telemetry, because it would hide the true telemetry", async () => {
    const { hash: receipt } = (await service.post("/v1/receipts", await envelope(receiptBody()))).json;
    const rating = await bound("rating", { receipt, side: "buyer", stars: 1 }, buyer);
    await refused("/telemetry", rating, "other_type", "body.type");
    const told = await bound("telemetry", { receipt, latency_ms: 7 }, buyer);
    expect((await service.post("/telemetry", told)).status).to.equal(201);
  });

  it("name the ledger", async () => {
    expect((await service.get("/v1/ledger/latest")).json.ledger).to.equal("local");
    expect((await service.get("/health")).json.ledger).to.equal("local");
  });
});
