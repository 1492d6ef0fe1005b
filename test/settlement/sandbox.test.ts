import { expect } from "chai";
import { mortalRpc } from "./support/mortalRpc.ts";
import { envelope, receiptBody } from "./support/records.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { openTestService, type TestService } from "./support/testService.ts";

describe("a sandbox with the settings of an anchored ledger", () => {
  const folder = temporaryFolder();
  let rpc: Awaited<ReturnType<typeof mortalRpc>>;
  let service: TestService;
  beforeEach(async () => {
    rpc = await mortalRpc("http://127.0.0.1:1");
    rpc.state.result = null;
    service = await openTestService(folder.path, {
      SETTLEMENT_MODE: "sandbox",
      ANCHOR_PRIVATE_KEY: `0x${"77".repeat(32)}`,
      ANCHORED_LEDGER: `0x${"88".repeat(20)}`,
      RPC_URL: rpc.url,
      CHAIN_ID: "8453",
    });
  });
  afterEach(async () => {
    await service.close();
    rpc.close();
  });

  it("accepts receipts of its ledger's chain, and of no other chain", async () => {
    const send = async (network: string) =>
      service.post("/v1/receipts", await envelope(receiptBody({ network })));
    for (const network of ["base", "eip155:8453"])
      expect((await send(network)).json.status, network).to.equal("VALIDATED");
    for (const network of ["base-sepolia", "eip155:84532"]) {
      const { status, json, text } = await send(network);
      expect([status, json.code, json.errors?.[0].field], text).to.deep.equal([
        400,
        "other_network",
        "body.network",
      ]);
    }
  });

  it("repeats no words of the RPC that cannot check a contract wallet, and logs them once", async () => {
    rpc.state.error = { code: -32_000, message: "words of another" };
    const { signature } = await envelope(receiptBody());
    for (const count of [1, 2]) {
      const { status, json, text } = await service.post("/v1/receipts", {
        ...(await envelope(receiptBody({ task_id: `other ${count}` }))),
        signature,
      });
      expect([status, json.code], text).to.deep.equal([503, "chain_unavailable"]);
      expect(text).to.contain("the RPC answers with error -32000").and.not.to.contain("words of another");
    }
    const told = service.logged.filter((sentence) => sentence.includes("contract wallet"));
    expect(told).to.deep.equal(["A contract wallet could not be asked."]);
  });

  it("opens no ledger on the chain and anchors nothing, so it asks no chain", async () => {
    const health = await service.get("/health");
    expect([health.status, health.json.mode, health.json.anchoring]).to.deep.equal([200, "sandbox", null]);
    expect((await service.get("/v1/ledger/checkpoint")).status).to.equal(200);
    expect(rpc.state.asked).to.equal(0);
  });
});
