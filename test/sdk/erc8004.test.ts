import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import type { TallystickError } from "tallystick-protocol/errors";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { checkPayment } from "tallystick-sdk/erc8004/checkPayment";
import { type PostFeedbackParameters, postFeedback } from "tallystick-sdk/erc8004/postFeedback";
import type { Posting } from "tallystick-sdk/erc8004/posting";
import { postResponse } from "tallystick-sdk/erc8004/postResponse";
import { type RegisterAgentParameters, registerAgent } from "tallystick-sdk/erc8004/registerAgent";
import type { ChainReader, ChainRegistries } from "tallystick-sdk/erc8004/registries";
import { verifyFeedback } from "tallystick-sdk/erc8004/verifyFeedback";
import { createPublicClient, custom, parseAbi } from "viem";
import { type Deployer, deployRegistries } from "../support/deployRegistries.ts";
import { MEAN, mean, NODE, type OpenBuyer, type OpenSeller } from "./support/market.ts";
import type { Wallet } from "./support/sdkChain.ts";
import { useMarket } from "./support/useMarket.ts";

const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
const PUBLIC = "https://node.example";

describe("ERC-8004's registries", () => {
  const { chain, market } = useMarket();
  let registries: ChainRegistries;
  let seller: OpenSeller;
  let buyer: OpenBuyer;
  let agentId: number;
  let hires = 0;
  /** Is called with each request to the RPC. A test may replace it. */
  let onRequest: (method: string, params: unknown[]) => unknown;

  const reader = (): ChainReader =>
    createPublicClient({
      transport: custom(
        {
          request: async ({ method, params = [] }: { method: string; params?: unknown[] }) =>
            (await onRequest(method, params)) ??
            (await chain.connection.provider.request({ method, params } as never)),
        },
        { retryCount: 0 },
      ),
      cacheTime: 0,
      pollingInterval: 10,
    });
  const posting = (by: Wallet, changes: Partial<Posting> = {}): Posting => ({
    account: by.account,
    client: reader(),
    registries,
    baseUrl: NODE,
    publicUrl: PUBLIC,
    ledger: "local",
    fetch: market.fetch,
    agree: () => true,
    now: () => Date.now() / 1000,
    pollingMs: 10,
    ...changes,
  });
  const fuel = ({ address }: { address: Address }) => chain.client.setBalance({ address, value: 10n ** 18n });
  const listed = async () => {
    const { text } = await market.ledger.get("/v1/ledger/entries?from=0&to=1");
    return JSON.parse(text).current_hash as string;
  };
  const register = async (by: Wallet, changes: Partial<RegisterAgentParameters> = {}) =>
    await registerAgent({
      ...posting(by),
      name: "Mean",
      description: "Computes means.",
      hire: [{ endpoint: "https://seller.example/v1", capabilities: [MEAN] }],
      knownBy: await listed(),
      ...changes,
    });
  const given = () =>
    chain.client.getContractEvents({
      ...{ address: registries.reputation, abi: reputationRegistryAbi },
      ...{ eventName: "NewFeedback", fromBlock: 0n },
    } as const);
  async function rated(stars = 4) {
    // Other params make another hire. With the same params the call would repeat the earlier hire.
    const hire = await buyer.hire({ ...ORDER, params: { data: [1, 2, ++hires] } });
    const receiptHash = hire.receiptHash as string;
    await buyer.rate({ receiptHash, ratingToken: hire.ratingToken as string, stars });
    return { hire, receiptHash };
  }
  const post = (receiptHash: string, changes: Partial<PostFeedbackParameters> = {}) =>
    postFeedback({ ...posting(buyer.wallet), receiptHash, agentId, allowUnanchored: true, ...changes });
  const refusal = async (work: Promise<unknown>) => {
    const error = (await work.then(
      () => undefined,
      (it) => it,
    )) as TallystickError | undefined;
    return error?.code;
  };

  beforeEach(async () => {
    onRequest = () => undefined;
    const { identity, reputation, fromBlock } = await deployRegistries(chain.client as unknown as Deployer);
    registries = { chainId: chain.network.chainId, identity, reputation, fromBlock };
    seller = await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 }],
      handlers: { [MEAN]: mean },
    });
    buyer = await market.openBuyer();
    for (const wallet of [seller.wallet, buyer.wallet]) await fuel(wallet);
    ({ agentId } = await register(seller.wallet));
  });

  it("register an agent once; the agent's file has its number, services and trust models", async () => {
    const again = await register(seller.wallet);
    expect(again).to.deep.include({ status: "found", agentId, transactions: [] });
    expect(again.uri).to.equal(`${PUBLIC}/v1/erc8004/files/${again.hash}.json`);
    const file = JSON.parse((await market.ledger.get(new URL(again.uri).pathname)).text);
    expect(file.registrations).to.deep.equal([
      { agentId, agentRegistry: `eip155:${registries.chainId}:${registries.identity}` },
    ]);
    expect(file.services.map((it: { name: string }) => it.name)).to.deep.equal(["SHP", "x402"]);
    expect(file).to.deep.include({ x402Support: true, supportedTrust: ["reputation"] });

    const renewed = await register(seller.wallet, {
      services: [{ name: "MCP", endpoint: "https://m.example" }],
    });
    expect(renewed).to.deep.include({ status: "updated", agentId });
    expect(renewed.transactions).to.have.length(1);
  });

  it("may give the expected number to another agent: then a second transaction sets the correct file", async () => {
    const other = await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.04", max_latency_ms: 30_000 }],
      handlers: { [MEAN]: mean },
    });
    await fuel(other.wallet);
    let isFirst = true;
    onRequest = async (method) => {
      if (method !== "eth_sendRawTransaction" || !isFirst) return;
      isFirst = false;
      const abi = parseAbi(["function register() returns (uint256)"]);
      const call = { address: registries.identity, abi, functionName: "register", args: [] };
      await chain.sender.sendAndWait(call);
    };
    const uri = "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
    const registered = await register(other.wallet, { uri });
    expect(registered.agentId).to.equal(agentId + 2);
    expect(registered.text).to.contain(`"agentId":${agentId + 2}`);
  });

  it("register an agent even if somebody sent it an identity that it did not register", async () => {
    const [victim, other] = [await market.openBuyer(), await market.openBuyer()];
    for (const { wallet } of [victim, other]) await fuel(wallet);
    const uri = "https://agent.example/file.json";
    const gift = await register(other.wallet, { uri });
    const abi = parseAbi(["function transferFrom(address from, address to, uint256 tokenId)"]);
    const { chainId } = registries;
    const { account, address } = other.wallet;
    const giver = createTransactionSender({ account, chainId, rpc: chain.transport, pollingMs: 10 });
    const args = [address, victim.wallet.address, BigInt(gift.agentId)];
    await giver.sendAndWait({ address: registries.identity, abi, functionName: "transferFrom", args });
    const registered = await register(victim.wallet, { uri });
    expect(registered).to.include({ status: "registered", agentId: gift.agentId + 1 });
    expect(await register(victim.wallet, { uri })).to.include({ status: "found", agentId: gift.agentId + 1 });
    // An identity that the agent registered itself and then sold does not count.
    expect((await register(other.wallet, { uri })).agentId).to.equal(gift.agentId + 2);
  });

  it("get a buyer's feedback with all the evidence of a paid hire", async () => {
    const { receiptHash } = await rated();
    const posted = await post(receiptHash);
    expect(posted).to.include({ status: "posted", index: 1 });
    expect(posted.uri).to.equal(`${PUBLIC}/v1/erc8004/files/${posted.hash}.json#receipt=${receiptHash}`);
    const [event] = await given();
    expect(event?.args).to.include({ value: 80n, valueDecimals: 0, tag1: "starred", tag2: MEAN });
    expect(event?.args.feedbackHash).to.equal(posted.hash);

    const text = (await market.ledger.get(new URL(posted.uri).pathname)).text;
    const { token } = chain;
    const verified = await verifyFeedback(text, { hash: posted.hash, client: reader(), registries, token });
    const open = verified.findings.filter(({ holds }) => holds !== true);
    expect(open).to.deep.equal([
      {
        field: "anchor",
        holds: null,
        detail: "the ledger is not anchored on a chain, or was not when the file was made",
      },
    ]);
    expect(verified).to.include({ valid: true, hash: posted.hash });
  });

  it("get no feedback if the caller does not agree to the cost, and the node stores no file", async () => {
    const { receiptHash } = await rated();
    const quoted = await post(receiptHash, { agree: () => false });
    expect(quoted.status).to.equal("quoted");
    expect(quoted.cost?.total).to.equal((quoted.cost?.gas ?? 0n) * (quoted.cost?.maxFeePerGas ?? 0n));
    expect(quoted.cost?.l1Fee).to.equal(null);
    expect(await given()).to.have.length(0);
    expect((await market.ledger.get(new URL(quoted.uri).pathname)).status).to.equal(404);
  });

  it("get a feedback once, even if several processes post it at the same time", async () => {
    const { receiptHash } = await rated();
    const outcomes = await Promise.allSettled([post(receiptHash), post(receiptHash), post(receiptHash)]);
    expect(outcomes.some(({ status }) => status === "fulfilled")).to.equal(true);
    expect(await post(receiptHash)).to.include({ status: "found", index: 1 });
    expect(await given()).to.have.length(1);
  });

  it("get a feedback once, even if the RPC's answer is lost or the block comes late", async () => {
    const { receiptHash } = await rated();
    onRequest = async (method, params) => {
      if (method !== "eth_sendRawTransaction") return;
      await chain.connection.provider.request({ method, params } as never);
      throw new Error("socket hang up");
    };
    expect(await refusal(post(receiptHash))).to.equal("transaction_pending");
    onRequest = () => undefined;
    expect(await post(receiptHash)).to.include({ status: "found", index: 1 });

    const second = await rated(5);
    await chain.client.setAutomine(false);
    try {
      expect(await refusal(post(second.receiptHash, { minedMs: 200 }))).to.equal("transaction_pending");
      expect(await refusal(post(second.receiptHash, { minedMs: 200 }))).to.equal("transaction_pending");
      await chain.client.mine({ blocks: 1 });
    } finally {
      await chain.client.setAutomine(true);
    }
    expect(await post(second.receiptHash)).to.include({ status: "found", index: 2 });
    expect(await given()).to.have.length(2);
  });

  it("get no more feedback if the RPC leaves out an earlier feedback", async () => {
    const { receiptHash } = await rated();
    await post(receiptHash);
    const second = await rated(5);
    await post(second.receiptHash);
    onRequest = async (method, params) => {
      if (method !== "eth_getLogs") return;
      const logs = (await chain.connection.provider.request({ method, params } as never)) as unknown[];
      return logs.slice(1);
    };
    expect(await refusal(post(second.receiptHash))).to.equal("chain_inconsistent");
    expect(await given()).to.have.length(2);
  });

  it("get no feedback on another chain, for another agent, from another buyer, or before the anchor", async () => {
    const { receiptHash } = await rated();
    const wrongChain = { ...registries, chainId: 8453 };
    const swapped = { ...registries, reputation: registries.identity };
    const third = await market.openBuyer();
    await fuel(third.wallet);
    const other = await register(third.wallet, { uri: "https://agent.example/file.json" });
    const refusals = [
      await refusal(post(receiptHash, { registries: wrongChain })),
      await refusal(post(receiptHash, { registries: swapped })),
      await refusal(post(receiptHash, { agentId: other.agentId })),
      await refusal(post(receiptHash, { account: third.wallet.account })),
      await refusal(post(receiptHash, { allowUnanchored: false })),
      await refusal(post(receiptHash, { publicUrl: "http://127.0.0.1:4000" })),
      await refusal(post("0".repeat(64))),
    ];
    expect(refusals).to.deep.equal([
      ...["wrong_chain", "no_registry", "not_the_agent", "invalid_input"],
      ...["not_anchored_yet", "invalid_input", "not_in_ledger"],
    ]);
    onRequest = async (method, params) => {
      if (method !== "eth_getTransactionReceipt") return;
      const mined = await chain.connection.provider.request({ method, params } as never);
      return { ...(mined as object), status: "0x0" };
    };
    const unpaid = await post(receiptHash).catch((error) => error);
    expect(unpaid.issues?.map((it: { field: string }) => it.field)).to.deep.equal(["payment"]);
    onRequest = () => undefined;
    await chain.client.setBalance({ address: buyer.wallet.address, value: 1n });
    expect(["no_gas_money", "chain_unreachable", "call_refused"]).to.include(
      await refusal(post(receiptHash)),
    );
    expect(await given()).to.have.length(0);
  });

  it("get a buyer's rating; if they do not, the ledger still has the rating", async () => {
    const hire = await buyer.hire(ORDER);
    const rating = {
      receiptHash: hire.receiptHash as string,
      ratingToken: hire.ratingToken as string,
      stars: 5,
    };
    const erc8004 = {
      ...{ agentId, registries, client: reader(), publicUrl: PUBLIC, allowUnanchored: true, pollingMs: 10 },
      maxCostWei: 1n,
    };
    const dear = await buyer.rate({ ...rating, erc8004 });
    expect(dear.erc8004).to.include({ status: "quoted" });
    const failed = await buyer.rate({ ...rating, erc8004: { ...erc8004, agentId: 99 } });
    expect(failed.erc8004?.status).to.equal("failed");
    const dared = await buyer.rate({ ...rating, erc8004: { ...erc8004, maxCostWei: 10n ** 17n } });
    expect(dared).to.deep.include({ ledger: "local" });
    expect(dared.erc8004).to.include({ status: "posted", index: 1 });
    expect((await given())[0]?.args.value).to.equal(100n);
  });

  it("get a response to a feedback once", async () => {
    const { receiptHash } = await rated();
    await post(receiptHash);
    const respond = async (changes: object = {}) =>
      await postResponse({
        ...posting(seller.wallet),
        ...{ agentId, feedbackClient: buyer.wallet.address, index: 1, knownBy: await listed() },
        said: { spam: { reason: "other", detail: "a test" } },
        ...changes,
      });
    expect((await respond()).status).to.equal("posted");
    expect((await respond()).status).to.equal("found");
    expect(await refusal(respond({ index: 2 }))).to.equal("call_refused");
    const answered = { address: registries.reputation, abi: reputationRegistryAbi, fromBlock: 0n } as const;
    expect(
      await chain.client.getContractEvents({ ...answered, eventName: "ResponseAppended" }),
    ).to.have.length(1);
  });

  it("let anybody check a feedback, and see which parts are wrong and which were not checked", async () => {
    const { receiptHash, hire } = await rated();
    const { text, hash } = await post(receiptHash);
    const { token } = chain;
    const wrong = async (file: string, more: object = {}) =>
      (await verifyFeedback(file, { client: reader(), registries, token, ...more })).findings
        .filter(({ holds }) => holds === false)
        .map(({ field }) => field);

    const offline = await verifyFeedback(text);
    expect(offline.valid).to.equal(true);
    expect(offline.findings.filter(({ holds }) => holds === null).map(({ field }) => field)).to.deep.equal([
      ...["file", "anchor", "event", "agentWallet", "payment"],
    ]);
    expect(await wrong(text, { hash: `0x${"00".repeat(32)}` })).to.deep.equal(["file"]);
    expect(await wrong(text, { isResponse: true }), "a feedback is no response").to.deep.equal(["format"]);
    // The file says that the hire was for another agent. The registry has no such feedback.
    const forAnother = text.replace(`"agentId":${agentId},`, `"agentId":${agentId + 1},`);
    expect(await wrong(forAnother)).to.deep.equal(["event"]);
    // The file has more stars than the buyer gave. The ledger and the chain have another value.
    expect(await wrong(text.replace('"value":80,', '"value":100,'))).to.deep.equal(["value", "event"]);
    // The check expects another token. The transaction did not move this token, so nothing was paid.
    expect(await wrong(text, { token: registries.identity })).to.deep.equal(["payment"]);
    // The seller has sold the identity since the feedback. The owner at the time of the feedback counts.
    const abi = parseAbi(["function transferFrom(address from, address to, uint256 tokenId)"]);
    const { chainId } = registries;
    const own = createTransactionSender({
      account: seller.wallet.account,
      chainId,
      rpc: chain.transport,
      pollingMs: 10,
    });
    const args = [seller.wallet.address, chain.guardian.address, BigInt(agentId)];
    await own.sendAndWait({ address: registries.identity, abi, functionName: "transferFrom", args });
    expect(await wrong(text)).to.deep.equal([]);
    // The client of the feedback revokes it.
    const client = createTransactionSender({
      account: buyer.wallet.account,
      chainId,
      rpc: chain.transport,
      pollingMs: 10,
    });
    const revoke = {
      address: registries.reputation,
      abi: reputationRegistryAbi,
      functionName: "revokeFeedback",
    };
    await client.sendAndWait({ ...revoke, args: [BigInt(agentId), 1n] });
    expect(await wrong(text, { hash })).to.deep.equal(["event.revoked"]);
    // The client uses the same file for another hire. By now the identity belongs to somebody else.
    const uri = `${PUBLIC}/v1/erc8004/files/${hash}.json#receipt=${"0".repeat(64)}`;
    const say = { ...revoke, functionName: "giveFeedback" };
    await client.sendAndWait({ ...say, args: [BigInt(agentId), 80n, 0, "starred", MEAN, "", uri, hash] });
    expect(await wrong(text, { hash })).to.deep.equal(["event.receipt", "agentWallet"]);

    const receipt = { ...JSON.parse(JSON.parse(text).tallystick.receipt_proof.entry).payload.body };
    const check = async (changes: object) =>
      (await checkPayment(reader(), { ...receipt, ...changes }, { chainId, token })).finding;
    const paid = async (changes: object) => (await check(changes)).holds;
    expect(await paid({})).to.equal(true);
    expect((await check({})).detail).to.contain("its authorization names this hire");
    // The seller signed a second receipt about the same payment.
    const second = await check({ hire_id: `0x${"22".repeat(32)}` });
    expect(second.holds).to.equal(true);
    expect(second.detail).to.contain("several receipts may name this payment");
    expect(await paid({ amount_usdc_atomic: String(hire.amount + 1n) })).to.equal(false);
    expect(await paid({ buyer: chain.guardian.address })).to.equal(false);
    expect(await paid({ payee: chain.guardian.address })).to.equal(false);
    expect(await paid({ tx_hash: `0x${"11".repeat(32)}` })).to.equal(false);
    expect(await paid({ network: "eip155:1" })).to.equal(null);
    expect(await paid({ escrow_id: `0x${"11".repeat(32)}` })).to.equal(null);
  });
});
