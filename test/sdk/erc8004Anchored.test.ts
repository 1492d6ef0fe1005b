import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import { type PostFeedbackParameters, postFeedback } from "tallystick-sdk/erc8004/postFeedback";
import { registerAgent } from "tallystick-sdk/erc8004/registerAgent";
import { verifyFeedback } from "tallystick-sdk/erc8004/verifyFeedback";
import type { Fetch } from "tallystick-sdk/requestService";
import { createTestClient, type Hex, publicActions, walletActions, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { localTransport } from "../../scripts/processes/localTransport.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { type LedgerChain, ledgerChain, WRITER_KEY } from "../../tools/bench/ledger/ledgerChain.ts";
import { bound, buyer, envelope, listingBody, receiptBody, seller } from "../settlement/support/records.ts";
import { temporaryFolder } from "../settlement/support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "../settlement/support/testService.ts";
import { type Deployer, deployRegistries } from "../support/deployRegistries.ts";
import { BUILD_TIMEOUT } from "../support/freshChain.ts";

const PRICE = 500_000n;
const NODE = "http://node.test";

describe("feedback of an anchored ledger", function () {
  this.timeout(BUILD_TIMEOUT);
  const folder = temporaryFolder();
  let chain: LedgerChain;
  let service: TestService | undefined;
  before(async () => {
    chain = await ledgerChain();
  });
  after(() => chain?.close());
  afterEach(() => service?.close());

  it("is valid in all parts that a stranger can check: ledger, anchor, registry and payment", async () => {
    const account = privateKeyToAccount(WRITER_KEY);
    const client = createTestClient({
      chain: hardhat,
      mode: "hardhat",
      account,
      transport: localTransport(chain.rpcUrl),
      cacheTime: 0,
    })
      .extend(publicActions)
      .extend(walletActions);
    const mined = (hash: Hex) => client.waitForTransactionReceipt({ hash, pollingInterval: 20 });
    const artifact = path.join(repositoryRoot, "artifacts/contracts/test/TestUSDC.sol/TestUSDC.json");
    const { bytecode } = JSON.parse(readFileSync(artifact, "utf8"));
    const { contractAddress } = await mined(await client.deployContract({ abi: testUsdcAbi, bytecode }));
    const token = contractAddress?.toLowerCase() as Address;
    const registries = { ...(await deployRegistries(client as unknown as Deployer)), chainId: hardhat.id };
    for (const { address } of [seller, buyer]) await client.setBalance({ address, value: 10n ** 18n });
    const call = { address: token, abi: testUsdcAbi, chain: hardhat } as const;
    await mined(await client.writeContract({ ...call, functionName: "mint", args: [buyer.address, PRICE] }));
    const args = [seller.address, PRICE] as const;
    const payment = await client.writeContract({ ...call, account: buyer, functionName: "transfer", args });
    await mined(payment);

    const open = await openTestService(folder.path, {
      LEDGER_ORIGIN: "tallystick.test/feedback",
      LEDGER_GUARDIAN: zeroAddress,
      ANCHOR_PRIVATE_KEY: WRITER_KEY,
      ANCHORED_LEDGER: chain.contract,
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(hardhat.id),
      ANCHOR_INTERVAL_SECONDS: "0.1",
    });
    service = open;
    const fetch: Fetch = async (input, init) => await open.app.request(input, init);
    const { ledger } = (await open.get("/v1/ledger/latest")).json;
    const listing = (await open.post("/v1/listings", await envelope(listingBody()))).json.hash;
    const facts = { tx_hash: payment, network: `eip155:${hardhat.id}`, amount_usdc_atomic: String(PRICE) };
    const receipt = (await open.post("/v1/receipts", await envelope(receiptBody(facts)))).json.hash;
    const record = await bound("rating", { receipt, side: "buyer", stars: 5 }, buyer, ledger);
    const rated = await open.post("/v1/rate", { ...record, rating_token: ratingToken(receipt, "buyer") });
    expect(rated.status, rated.text).to.equal(201);

    const posting = {
      ...{
        client: client as never,
        registries,
        baseUrl: NODE,
        publicUrl: "https://node.example",
        ledger,
        fetch,
      },
      ...{ agree: () => true, now: () => NOW, pollingMs: 20 },
    };
    const about = { name: "Translator", description: "Translates.", hire: [], knownBy: listing };
    const { agentId } = await registerAgent({ ...posting, ...about, account: seller });
    const wanted: PostFeedbackParameters = { ...posting, account: buyer, receiptHash: receipt, agentId };
    let posted = await postFeedback(wanted).catch((error) => error);
    while (posted.code === "not_anchored_yet") {
      await new Promise((resolve) => setTimeout(resolve, 100));
      posted = await postFeedback(wanted).catch((error) => error);
    }
    expect(posted.status, String(posted)).to.equal("posted");

    const given = { hash: posted.hash, client: client as never, registries, token };
    const { findings, valid } = await verifyFeedback(posted.text, given);
    expect(findings.filter(({ holds }) => holds !== true)).to.deep.equal([]);
    expect(findings.map(({ field }) => field)).to.include.members([
      "anchor",
      "event",
      "agentWallet",
      "payment",
    ]);
    expect(valid).to.equal(true);
    // This file names a transaction that is not the anchor.
    const forged = posted.text.replace(/"transaction":"0x[0-9a-f]{64}"/, `"transaction":"${payment}"`);
    const bad = (await verifyFeedback(forged, given)).findings.filter(({ holds }) => holds === false);
    expect(bad.map(({ field }) => field)).to.deep.equal(["file", "anchor", "event"]);
  });
});
