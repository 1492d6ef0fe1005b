import { expect } from "chai";
import { createMcpContext, readMcpConfig } from "tallystick-mcp/mcpConfig";
import type { Fetch } from "tallystick-sdk/requestService";
import { createPublicClient, http, type PublicClient, zeroAddress } from "viem";
import { hardhat } from "viem/chains";
import { localTransport } from "../../scripts/processes/localTransport.ts";
import { type LedgerChain, ledgerChain, WRITER_KEY } from "../../tools/bench/ledger/ledgerChain.ts";
import { envelope, listingBody, receiptBody } from "../settlement/support/records.ts";
import { temporaryFolder } from "../settlement/support/temporaryFolder.ts";
import { openTestService, type TestService } from "../settlement/support/testService.ts";
import { BUILD_TIMEOUT } from "../support/freshChain.ts";
import { connectMcp } from "./support/openMcp.ts";

describe("a receipt of an anchored ledger, as an MCP server verifies it", function () {
  this.timeout(BUILD_TIMEOUT);
  const folder = temporaryFolder();
  let chain: LedgerChain;
  let service: TestService;
  before(async () => {
    chain = await ledgerChain();
    service = await openTestService(folder.path, {
      LEDGER_ORIGIN: "tallystick.test/receipts",
      LEDGER_GUARDIAN: zeroAddress,
      ANCHOR_PRIVATE_KEY: WRITER_KEY,
      ANCHORED_LEDGER: chain.contract,
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(hardhat.id),
      ANCHOR_INTERVAL_SECONDS: "0.1",
    });
  });
  after(async () => {
    await service?.close();
    await chain?.close();
  });

  it("names the transaction that anchored it only as the chain confirms it, and never as the node tells it", async () => {
    await service.post("/v1/listings", await envelope(listingBody()));
    const facts = { network: `eip155:${hardhat.id}` };
    const receipt = (await service.post("/v1/receipts", await envelope(receiptBody(facts)))).json.hash;
    let transaction: string | undefined;
    while (transaction === undefined) {
      const { status, json } = await service.get(`/v1/ledger/bundle?hash=${receipt}`);
      if (status === 200 && json.anchor !== null) transaction = json.anchor.transaction;
      else await new Promise((resolve) => setTimeout(resolve, 20));
    }

    const honest: Fetch = async (input, init) => await service.app.request(input, init);
    const other = `0x${"ab".repeat(32)}`;
    const lying: Fetch = async (input, init) => {
      const answer = await honest(input, init);
      return new Response((await answer.text()).replace(transaction as string, other), answer);
    };
    const client = createPublicClient({ transport: localTransport(chain.rpcUrl) });
    const answerOf = async (fetch: Fetch, asked?: PublicClient) => {
      const config = readMcpConfig({ TALLYSTICK_URL: "http://node.test", TALLYSTICK_DEV_MODE: "1" });
      const mcp = await connectMcp(createMcpContext(config, { fetch, ...(asked && { client: asked }) }));
      const answer = await mcp.call("verify_receipt", { receipt_hash: receipt });
      await mcp.close();
      return answer;
    };
    expect(await answerOf(honest, client)).to.include({ valid: true, anchored_by: transaction });
    expect((await answerOf(lying, client)).error).to.contain(`The chain has no transaction ${other}`);
    for (const fetch of [honest, lying])
      expect(await answerOf(fetch)).to.include({ valid: true, anchored_by: null });
    // A chain that does not answer confirms nothing. The receipt's proof does not need it.
    const silent = createPublicClient({ transport: http("http://127.0.0.1:9", { retryCount: 0 }) });
    expect(await answerOf(honest, silent)).to.include({ valid: true, anchored_by: null });
  });
});
