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

const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 5_000 };
const PUBLIC = "https://node.example";

describe("ERC-8004's registries", () => {
  const { chain, market } = useMarket();
  let registries: ChainRegistries;
  let seller: OpenSeller;
  let buyer: OpenBuyer;
  let agentId: number;
  let hires = 0;
  /** Called with each request to the RPC. A test may change it. */
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
    // The same call would be the same hire.
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
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 2_000 }],
      handlers: { [MEAN]: mean },
    });
    buyer = await market.openBuyer();
    for (const wallet of [seller.wallet, buyer.wallet]) await fuel(wallet);
    ({ agentId } = await register(seller.wallet));
  });

  it("register an agent once, and its file has its number, services and trust models", async () => {
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

  it("give the expected number to somebody else: a second transaction sets the correct file", async () => {
    const other = await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.04", max_latency_ms: 2_000 }],
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

  it("register an agent even if somebody sent it identities that it never registered", async () => {
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
    // An identity that the agent registered itself and has sold does not count either.
    expect((await register(other.wallet, { uri })).agentId).to.equal(gift.agentId + 2);
  });

  it("get a buyer's feedback with all evidence of a paid hire", async () => {
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

  it("get nothing if nobody agrees to the cost, and no file is kept", async () => {
    const { receiptHash } = await rated();
    const quoted = await post(receiptHash, { agree: () => false });
    expect(quoted.status).to.equal("quoted");
    expect(quoted.cost?.total).to.equal((quoted.cost?.gas ?? 0n) * (quoted.cost?.maxFeePerGas ?? 0n));
    expect(quoted.cost?.l1Fee).to.equal(null);
    expect(await given()).to.have.length(0);
    expect((await market.ledger.get(new URL(quoted.uri).pathname)).status).to.equal(404);
  });

  it("get it once, for any number of attempts from any number of places", async () => {
    const { receiptHash } = await rated();
    const outcomes = await Promise.allSettled([post(receiptHash), post(receiptHash), post(receiptHash)]);
    expect(outcomes.some(({ status }) => status === "fulfilled")).to.equal(true);
    expect(await post(receiptHash)).to.include({ status: "found", index: 1 });
    expect(await given()).to.have.length(1);
  });

  it("get it once when the first answer was lost, or its block comes late", async () => {
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

  it("get nothing if the RPC hides the number of feedbacks", async () => {
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

  it("get nothing on another chain, for another agent, from another buyer, or before the anchor", async () => {
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

  it("get a buyer's rating, and a failure never affects the rating", async () => {
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

  it("get a response to somebody's feedback once", async () => {
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

  it("show to a checker which parts of a feedback are wrong, and which were not checked", async () => {
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
    // The same hire, said to be for another agent: the registry has no such feedback.
    const forAnother = text.replace(`"agentId":${agentId},`, `"agentId":${agentId + 1},`);
    expect(await wrong(forAnother)).to.deep.equal(["event"]);
    // More stars than were given: neither the ledger nor the chain says so.
    expect(await wrong(text.replace('"value":80,', '"value":100,'))).to.deep.equal(["value", "event"]);
    // That transaction moved another token, or none, so nothing was paid.
    expect(await wrong(text, { token: registries.identity })).to.deep.equal(["payment"]);
    // The identity was sold before somebody checked the feedback. Its owner at the time of the feedback counts.
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
    // Its client takes it back.
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
    // It claims another hire with the same file, and the identity belongs to somebody else by now.
    const uri = `${PUBLIC}/v1/erc8004/files/${hash}.json#receipt=${"0".repeat(64)}`;
    const say = { ...revoke, functionName: "giveFeedback" };
    await client.sendAndWait({ ...say, args: [BigInt(agentId), 80n, 0, "starred", MEAN, "", uri, hash] });
    expect(await wrong(text, { hash })).to.deep.equal(["event.receipt", "agentWallet"]);

    const receipt = { ...JSON.parse(JSON.parse(text).tallystick.receipt_proof.entry).payload.body };
    const paid = async (changes: object) =>
      (await checkPayment(reader(), { ...receipt, ...changes }, { chainId, token })).finding.holds;
    expect(await paid({})).to.equal(true);
    expect(await paid({ amount_usdc_atomic: String(hire.amount + 1n) })).to.equal(false);
    expect(await paid({ buyer: chain.guardian.address })).to.equal(false);
    expect(await paid({ payee: chain.guardian.address })).to.equal(false);
    expect(await paid({ tx_hash: `0x${"11".repeat(32)}` })).to.equal(false);
    expect(await paid({ network: "eip155:1" })).to.equal(null);
    expect(await paid({ escrow_id: `0x${"11".repeat(32)}` })).to.equal(null);
  });
});
