import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createEscrowCalls, type EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { createKeeper, type Keeper, type KeeperParameters } from "tallystick-sdk/escrow/keeper";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { decodeFunctionData, http, numberToHex, parseTransaction, type Transport } from "viem";
import { type KeeperWorld, openKeeperWorld, WORD } from "../../tools/bench/keeper/keeperWorld.ts";
import { lengthenWaits } from "./support/lengthenWaits.ts";
import { openRpcProxy, type RpcProxy, type RpcRequest } from "./support/rpcProxy.ts";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

describe("the parts of a keeper's round", () => {
  let chain: SdkChain;
  let world: KeeperWorld;
  let rpc: RpcProxy;
  let calls: EscrowCalls;
  let store: KeyValueStore;
  /** Whether a request gets no answer, so that its sender must give up soon. */
  let isUnanswered: (request: Pick<RpcRequest, "method" | "params">) => boolean;
  const account = newWallet();

  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    rpc = await openRpcProxy(chain);
    await chain.client.setBalance({ address: account.address, value: 10n ** 24n });
    const { chainId } = chain.network;
    const within = (timeout: number): Transport => http(rpc.url, { retryCount: 0, timeout });
    const [patient, hasty] = [within(60_000), within(1_000)];
    const sender = createTransactionSender({
      account: account.account,
      chainId,
      rpc: (given) => {
        const [long, short] = [patient(given), hasty(given)];
        const request = (it: never, options?: never) =>
          (isUnanswered(it) ? short : long).request(it, options);
        return { ...long, request: request as never };
      },
      pollingMs: 10,
    });
    calls = createEscrowCalls({ sender, deployment: { chainId, escrow: chain.escrow } });
  });
  after(async () => {
    await rpc.close();
    await chain.close();
  });
  beforeEach(async () => {
    world = await openKeeperWorld(chain);
    store = memoryStore();
    rpc.sabotage = () => undefined;
    isUnanswered = () => false;
  });

  const open = (changes: Partial<KeeperParameters> = {}): Keeper =>
    createKeeper({ calls, store, worth: world.worth, ...changes });

  /** One hire for each part of a round. All are due now. */
  async function work(keeper: Keeper): Promise<{ [part in "releases" | "refunds" | "timeouts"]: Hire }> {
    const buyer = await world.person();
    const signer = world.signerOf(buyer);
    const soon = BigInt((await chain.now()) + 5_000);
    const releases = await world.held(buyer);
    const refunds = await world.held(buyer);
    const timeouts = await world.held(buyer, { deadline: soon });
    await keeper.release(releases, await signer.release(calls.idOf(releases)));
    await keeper.refund(refunds, buyer.address, await signer.refund(calls.idOf(refunds)));
    await chain.passTo(Number(soon));
    return { releases, refunds, timeouts };
  }
  const verbs = { releases: "release", refunds: "refund", timeouts: "timeoutRefund" } as const;
  const ends = { releases: "released", refunds: "refunded", timeouts: "timedOut" } as const;
  const parts = ["releases", "refunds", "timeouts"] as const;

  /** Whether this request sends a batch with items of this part. */
  const sends = (
    { method, params }: Pick<RpcRequest, "method" | "params">,
    verb: keyof typeof ends,
  ): boolean => {
    if (method !== "eth_sendRawTransaction") return false;
    const { data = "0x" } = parseTransaction(params[0] as Hex);
    const [items] = decodeFunctionData({ abi: hireEscrowAbi, data }).args as [Hex[], bigint];
    return decodeFunctionData({ abi: hireEscrowAbi, data: items[0] ?? "0x" }).functionName === verbs[verb];
  };

  const failures: { [how: string]: (request: RpcRequest) => unknown } = {
    "is answered []": () => [],
    "is answered an internal error": ({ id }) => ({
      jsonrpc: "2.0",
      id,
      error: { code: -32_603, message: "execution reverted" },
    }),
    "is never answered": () => new Promise(() => {}),
  };
  for (const part of parts) {
    for (const [how, failure] of Object.entries(failures)) {
      // Each of these tests waits for the provider's time-out. So only one of them runs.
      if (how === "is never answered" && part !== "releases") continue;
      it(`are done except the ${part} if the request to send them ${how}; they are done in the next round`, async () => {
        const keeper = open();
        const hires = await work(keeper);
        rpc.sabotage = (request) => (sends(request, part) ? failure(request) : undefined);
        isUnanswered = (request) => how === "is never answered" && sends(request, part);
        const seen = await keeper.round();
        expect(seen.failed).to.deep.equal([part]);
        for (const other of parts) {
          expect(await world.statusOf(hires[other]), other).to.equal(other === part ? "held" : ends[other]);
        }
        rpc.sabotage = () => undefined;
        isUnanswered = () => false;
        expect((await keeper.round()).failed).to.deep.equal([]);
        expect(await world.statusOf(hires[part])).to.equal(ends[part]);
        await keeper.close();
      });
    }
  }

  it("charge a wallet for transactions that may have been sent, and not for transactions that were never sent", async () => {
    const wallet = await world.wallet();
    const { hire } = await world.heldBy(wallet.address);
    const keeper = open({ gasPerWallet: 2_000_000 });
    await keeper.release(hire, WORD);
    const noted = async () => {
      const { owed = 0, atRisk = 0 } = (await store.get(`release/${calls.idOf(hire)}`)) as {
        owed?: number;
        atRisk?: number;
      };
      return { owed, atRisk };
    };
    const fail = (method: string) => {
      rpc.sabotage = (request) =>
        request.method === method
          ? { jsonrpc: "2.0", id: request.id, error: { code: -32_603, message: "away" } }
          : undefined;
    };
    for (const method of ["eth_getTransactionCount", "eth_getBlockByNumber", "eth_getTransactionCount"]) {
      fail(method);
      expect((await keeper.round()).failed, method).to.include("releases");
      expect(await noted(), method).to.deep.equal({ owed: 0, atRisk: 0 });
    }
    fail("eth_sendRawTransaction");
    for (const times of [0, 1]) {
      expect((await keeper.round()).failed).to.deep.equal(["releases"]);
      expect(await noted()).to.deep.equal({ owed: times * 150_000, atRisk: 150_000 });
    }
    rpc.sabotage = () => undefined;
    await keeper.round();
    expect(await world.statusOf(hire)).to.equal("released");
    await keeper.close();
  });

  it("charge no buyer for a deposit for which the keeper has no ether", async () => {
    const buyer = await world.person();
    const hire = await world.hireOf(buyer.address);
    const authorization = await world.signerOf(buyer).authorizeDeposit(hire);
    const keeper = open();
    await chain.client.setBalance({ address: account.address, value: 0n });
    try {
      expect(await rejection(keeper.deposit(hire, authorization))).to.include({ code: "no_gas_money" });
    } finally {
      await chain.client.setBalance({ address: account.address, value: 10n ** 24n });
    }
    expect(await store.keys("gas")).to.deep.equal([]);
    await keeper.deposit(hire, authorization);
    expect(await world.statusOf(hire)).to.equal("held");
    await keeper.close();
  });

  it("end at their deadline even if a batch hangs, and do not send it a second time meanwhile", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let sent = 0;
    const hanging: EscrowCalls = {
      ...calls,
      batch: async (...given) => {
        sent++;
        await promise;
        return await calls.batch(...given);
      },
    };
    const buyer = await world.person();
    const hire = await world.held(buyer);
    const keeper = open({ calls: hanging, phaseMs: 1_000 });
    await keeper.release(hire, await world.signerOf(buyer).release(calls.idOf(hire)));
    // On a busy machine a part of a round may be over before it sends anything.
    while (sent === 0) expect((await keeper.round()).released).to.equal(0);
    for (let n = 0; n < 2; n++) expect((await keeper.round()).released).to.equal(0);
    expect(sent).to.equal(1);
    resolve();
    await keeper.close();
    while ((await world.statusOf(hire)) === "held") await sleep(10);
  });

  it("keep all instructions if a provider fails or is behind", async () => {
    const keeper = open();
    const { releases } = await work(keeper);
    const nothing: Hex = `0x${"00".repeat(96)}`;
    for (const answer of [
      ({ id }: RpcRequest) => ({ jsonrpc: "2.0", id, result: nothing }),
      ({ id }: RpcRequest) => ({
        jsonrpc: "2.0",
        id,
        error: { code: -32_603, message: "execution reverted" },
      }),
      ({ id }: RpcRequest) => ({ jsonrpc: "2.0", id, error: { code: 3, message: "execution reverted" } }),
      () => [],
    ]) {
      rpc.sabotage = (request) => (request.method === "eth_call" ? answer(request) : undefined);
      expect(await keeper.round()).to.include({ released: 0 });
      expect(await store.keys("release")).to.have.length(1);
    }
    await keeper.close();
    rpc.sabotage = () => undefined;
    const next = open();
    expect(await next.round()).to.include({ released: 1 });
    expect(await world.statusOf(releases)).to.equal("released");
    await next.close();
  });

  it("send no money back for ten minutes if the buyer has signed its release in time, and carry this release out", async () => {
    const buyer = await world.person();
    let isAway = false;
    const state: EscrowCalls["state"] = async (of) => {
      // Releases ask by the id, timeouts by the terms.
      if (isAway && typeof of === "string") throw new Error("too many requests");
      return await calls.state(of);
    };
    const keeper = open({ calls: { ...calls, state } });
    const deadline = BigInt((await chain.now()) + 5_000);
    const [released, forgotten, given] = [
      await world.held(buyer, { deadline }),
      await world.held(buyer, { deadline }),
      await world.held(buyer, { deadline }),
    ];
    for (const hire of [released, given])
      await keeper.release(hire, await world.signerOf(buyer).release(calls.idOf(hire)));
    await chain.passTo(Number(deadline));
    isAway = true;
    expect(await keeper.round()).to.deep.include({ released: 0, timedOut: 1, failed: ["releases"] });
    expect(await world.statusOf(forgotten)).to.equal("timedOut");
    expect(await world.statusOf(released)).to.equal("held");
    isAway = false;
    expect(await keeper.round()).to.deep.include({ released: 2, timedOut: 0, failed: [] });
    expect(await world.statusOf(released)).to.equal("released");

    const end = BigInt((await chain.now()) + 5_000);
    const late = await world.held(buyer, { deadline: end });
    await keeper.release(late, await world.signerOf(buyer).release(calls.idOf(late)));
    isAway = true;
    await chain.passTo(Number(end) + 599);
    expect(await keeper.round()).to.include({ timedOut: 0 });
    await chain.passTo(Number(end) + 600);
    expect(await keeper.round()).to.include({ timedOut: 1 });
    expect(await world.statusOf(late)).to.equal("timedOut");
    await keeper.close();
  });

  it("do nothing with what is stored about another escrow, and carry it out when its own keeper is back", async () => {
    const first = open();
    const { releases, timeouts } = await work(first);
    await first.close();
    const { chainId, escrow } = calls.deployment;
    const elsewhere = { chainId: chainId + 1, escrow };
    const other = open({ calls: createEscrowCalls({ sender: chain.sender, deployment: elsewhere }) });
    expect((await other.round()).failed).to.have.members([...parts]);
    await other.close();
    const next = open();
    expect(await next.round()).to.deep.include({ released: 1, timedOut: 1, failed: [] });
    expect([await world.statusOf(releases), await world.statusOf(timeouts)]).to.deep.equal([
      "released",
      "timedOut",
    ]);
    await next.close();
  });

  it("wait, and no instruction is taken, while the provider is of another chain", async () => {
    const first = open();
    const hires = await work(first);
    await first.close();
    const { chainId } = chain.network;
    let getChainId = async (): Promise<number> => Promise.reject(new Error("away"));
    const client = { ...chain.sender.client, getChainId: () => getChainId() };
    const sender = { ...chain.sender, client } as typeof chain.sender;
    const next = open({ calls: createEscrowCalls({ sender, deployment: calls.deployment }) });
    const release = () => rejection(next.release(hires.releases, "0x12"));
    expect(await release()).to.include({ code: "chain_unreachable" });
    getChainId = async () => chainId + 1;
    expect((await next.round()).failed).to.have.members([...parts]);
    for (const part of parts) expect(await world.statusOf(hires[part]), part).to.equal("held");
    expect(await release()).to.include({ code: "wrong_chain" });
    expect(await next.health()).to.include({ ok: false, code: "wrong_chain" });
    getChainId = async () => chainId;
    expect(await next.round()).to.deep.include({ released: 1, refunded: 1, timedOut: 1, failed: [] });
    await next.close();
  });

  it("are done by a keeper whose health says at any time whether its RPC answers", async () => {
    let time = Date.now();
    const keeper = open({ now: () => time });
    const look = async () => {
      time += 1_000;
      const restore = lengthenWaits(2_000);
      return await keeper.health().finally(restore);
    };
    expect(await look()).to.deep.equal({ ok: true });
    rpc.sabotage = ({ id }) => ({ jsonrpc: "2.0", id, error: { code: -32_603, message: "away" } });
    expect(await look()).to.include({ ok: false, code: "chain_unreachable" });
    rpc.sabotage = () => undefined;
    expect(await look()).to.deep.equal({ ok: true });
    await keeper.close();
  });

  it("are left alone while the escrow holds another token than the keeper's", async () => {
    const hires = await work(open());
    const other = open({ token: `0x${"0f".repeat(20)}` });
    expect((await other.round()).failed).to.have.members([...parts]);
    expect(await other.health()).to.include({ ok: false, code: "wrong_token" });
    expect(await rejection(other.release(hires.releases, "0x12"))).to.include({ code: "wrong_token" });
    for (const part of parts) expect(await world.statusOf(hires[part]), part).to.equal("held");
    await other.close();
    const right = open({ token: chain.token });
    expect(await right.round()).to.deep.include({ released: 1, refunded: 1, timedOut: 1, failed: [] });
    expect(await right.health()).to.deep.equal({ ok: true });
    await right.close();
  });

  it("refund known deposits even if the provider lists none, and then ask for fewer blocks", async () => {
    const keeper = open();
    const buyer = await world.person();
    const soon = BigInt((await chain.now()) + 5_000);
    const known = await world.held(buyer, { deadline: soon });
    await keeper.round();
    await chain.passTo(Number(soon));
    const refuse = (id: number) => ({
      jsonrpc: "2.0",
      id,
      error: { code: -32_005, message: "query returned more than 10000 results" },
    });
    rpc.sabotage = ({ method, id }) => (method === "eth_getLogs" ? refuse(id) : undefined);
    expect(await keeper.round()).to.deep.include({ timedOut: 1, failed: ["timeouts"] });
    expect(await world.statusOf(known)).to.equal("timedOut");
    rpc.sabotage = ({ method, params, id }) => {
      if (method !== "eth_getLogs") return undefined;
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: Hex; toBlock: Hex }];
      return BigInt(toBlock) - BigInt(fromBlock) < 3n ? undefined : refuse(id);
    };
    const late = await world.held(buyer, { deadline: soon + 100n });
    // The keeper collects timeouts for five minutes after it has sent one.
    await chain.passTo(Number(soon) + 400);
    for (let rounds = 0; (await world.statusOf(late)) === "held"; rounds++) {
      expect(rounds).to.be.lessThan(20);
      await keeper.round();
    }
    expect((await keeper.round()).failed).to.deep.equal([]);
    await keeper.close();
  });

  it("refund known deposits before they read new ones", async () => {
    const startBlock = await chain.client.getBlockNumber();
    const first = open({ startBlock });
    const soon = BigInt((await chain.now()) + 5_000);
    const hire = await world.held(await world.person(), { deadline: soon });
    await first.round();
    await first.close();
    await chain.passTo(Number(soon));
    let isOver = false;
    rpc.sabotage = async ({ method }) => {
      // The provider lists nothing until the known deposit is back.
      while (method === "eth_getLogs" && !isOver && (await world.statusOf(hire)) === "held") await sleep(10);
      return undefined;
    };
    const next = open({ startBlock });
    const seen = await next.round();
    isOver = true;
    expect(seen).to.deep.include({ timedOut: 1, failed: [] });
    await next.close();
  });

  it("read new deposits even if the known ones take the whole time of a round", async () => {
    const startBlock = await chain.client.getBlockNumber();
    const first = open({ startBlock });
    const buyer = await world.person();
    const soon = BigInt((await chain.now()) + 5_000);
    const known = await world.held(buyer, { deadline: soon });
    await first.round();
    await first.close();
    await chain.passTo(Number(soon));
    const fresh = await world.held(buyer);
    const asks = ({ method, params }: RpcRequest, id: Hex) =>
      method === "eth_call" && JSON.stringify(params).includes(id.slice(2));
    rpc.sabotage = (request) => (asks(request, calls.idOf(known)) ? new Promise(() => {}) : undefined);
    const next = open({ startBlock, phaseMs: 1_000 });
    while ((await store.get(`watch/${calls.idOf(fresh)}`)) === undefined) await next.round();
    await next.close();
  });

  it("carry out a release that came to a node without the newest deposits", async () => {
    const before = await chain.client.getBlockNumber();
    const buyer = await world.person();
    const hire = await world.held(buyer);
    const keeper = open();
    /** How many questions still go to the node that is behind. */
    let behind = 2;
    rpc.sabotage = async ({ method, params, id }) => {
      if (method !== "eth_call" || behind-- <= 0) return undefined;
      const older = { method, params: [params[0], numberToHex(before)] };
      return { jsonrpc: "2.0", id, result: await chain.connection.provider.request(older as never) };
    };
    await keeper.release(hire, await world.signerOf(buyer).release(calls.idOf(hire)));
    expect(await keeper.round()).to.include({ released: 1 });
    await keeper.close();
  });

  it("refund a deposit that the provider did not know when the deposit was new and when it was due", async () => {
    const keeper = open();
    const soon = BigInt((await chain.now()) + 500);
    const hire = await world.held(await world.person(), { deadline: soon });
    const nothing: Hex = `0x${"00".repeat(96)}`;
    const isBehind = ({ method, id }: RpcRequest) =>
      method === "eth_call" ? { jsonrpc: "2.0", id, result: nothing } : undefined;
    rpc.sabotage = isBehind;
    await keeper.round();
    rpc.sabotage = () => undefined;
    // After these blocks the keeper does not read the deposit's block again.
    await chain.client.mine({ blocks: 40 });
    await keeper.round();
    await chain.passTo(Number(soon));
    rpc.sabotage = isBehind;
    expect(await keeper.round()).to.include({ timedOut: 0 });
    rpc.sabotage = () => undefined;
    await chain.passTo(Number(soon) + 10);
    expect(await keeper.round()).to.include({ timedOut: 1 });
    expect(await world.statusOf(hire)).to.equal("timedOut");
    await keeper.close();
  });

  it("refund a deposit that a node far behind did not list, although another node gave the head", async () => {
    const keeper = open();
    const soon = BigInt((await chain.now()) + 500);
    const hire = await world.held(await world.person(), { deadline: soon });
    await chain.client.mine({ blocks: 200 });
    rpc.sabotage = ({ method, id }) =>
      method === "eth_getLogs" ? { jsonrpc: "2.0", id, result: [] } : undefined;
    for (let rounds = 0; rounds < 3; rounds++) expect((await keeper.round()).failed).to.deep.equal([]);
    rpc.sabotage = () => undefined;
    await chain.passTo(Number(soon));
    expect(await keeper.round()).to.include({ timedOut: 1 });
    expect(await world.statusOf(hire)).to.equal("timedOut");
    await keeper.close();
  });

  it("read a block again until many heads have been far beyond it, and not forever", async () => {
    const keeper = open();
    await chain.client.mine({ blocks: 2_500 });
    /** The first block that each round read. */
    const asked: bigint[] = [];
    let isFirst = true;
    rpc.sabotage = ({ method, params }) => {
      if (method === "eth_getLogs" && isFirst)
        asked.push(BigInt((params[0] as { fromBlock: Hex }).fromBlock));
      if (method === "eth_getLogs") isFirst = false;
      return undefined;
    };
    for (let rounds = 0; rounds < 33; rounds++) {
      isFirst = true;
      await keeper.round();
    }
    const head = Number(await chain.client.getBlockNumber());
    expect(asked.map((from) => head - Number(from)).slice(1, 32), "while it is not sure").to.deep.equal(
      Array(31).fill(2_030),
    );
    expect(head - Number(asked[32])).to.equal(30);
    await keeper.close();
  });

  it("refund due deposits after a restart, even if another deposit has a deadline that is too large for a number", async () => {
    const soon = BigInt((await chain.now()) + 500);
    await world.held(await world.person(), { deadline: 2n ** 64n - 1n });
    const hire = await world.held(await world.person(), { deadline: soon });
    const first = open();
    await first.round();
    await first.close();
    // An earlier version stored such deposits in this form.
    const [key] = await store.keys("watch");
    const kept = await store.get<object>(key ?? "");
    await store.put("watch/0x01", { ...kept, deadline: 2 ** 64 });
    await chain.passTo(Number(soon));
    const next = open();
    expect(await next.round()).to.deep.include({ timedOut: 1, failed: [] });
    expect(await world.statusOf(hire)).to.equal("timedOut");
    await next.close();
  });

  it("forget a deposit that stays unknown because a reorganisation undid it", async () => {
    const keeper = open({ startBlock: await chain.client.getBlockNumber() });
    const soon = BigInt((await chain.now()) + 500);
    const hire = await world.held(await world.person(), { deadline: soon });
    await keeper.round();
    await chain.client.mine({ blocks: 40 });
    await keeper.round();
    rpc.sabotage = ({ method, id }) =>
      method === "eth_call" ? { jsonrpc: "2.0", id, result: `0x${"00".repeat(96)}` } : undefined;
    for (let look = 0; look < 8; look++) {
      expect(await store.keys("watch"), String(look)).to.have.length(1);
      await chain.passTo(Number(soon) + 10 * 3 ** look);
      await keeper.round();
    }
    expect(await store.keys("watch")).to.have.length(0);
    await keeper.close();
    rpc.sabotage = () => undefined;
    await calls.timeoutRefund(hire);
  });

  it("forget that a deposit was the keeper's own when its escrow has ended for certain", async () => {
    let at = Date.now();
    const keeper = open({ now: () => at, startBlock: await chain.client.getBlockNumber() });
    const buyer = await world.person();
    const soon = (await chain.now()) + 1_000;
    const hire = await world.hireOf(buyer.address, { deadline: BigInt(soon) });
    await keeper.deposit(hire, await world.signerOf(buyer).authorizeDeposit(hire));
    await chain.passTo(soon);
    expect(await keeper.round()).to.deep.include({ timedOut: 1, failed: [] });
    expect(await store.keys("deposited")).to.deep.equal([`deposited/${calls.idOf(hire)}`]);
    at += 120_000;
    expect((await keeper.round()).failed).to.deep.equal([]);
    expect(await store.keys("deposited")).to.deep.equal([]);
    await keeper.close();
  });

  describe("with a settlement that a reorganisation undoes", () => {
    /** The keeper's clock, which these tests move by hand. */
    let at: number;
    /** The first block that the keeper reads: it ignores the deposits of other tests. */
    let startBlock: bigint;
    let buyer: Wallet;
    let hire: Hire;
    let soon: number;
    beforeEach(async () => {
      at = Date.now();
      startBlock = await chain.client.getBlockNumber();
      soon = (await chain.now()) + 100;
      buyer = await world.person();
      hire = await world.held(buyer, { deadline: BigInt(soon) });
    });
    const openHere = () => open({ now: () => at, startBlock });
    /** Mines so many blocks that a keeper does not read the deposits before them again. */
    const leaveBehind = () => chain.client.mine({ blocks: 2_100 });

    it("send a refund again, also after a restart, until it has been settled for two minutes", async () => {
      const before = openHere();
      await before.round();
      await before.close();
      await leaveBehind();
      const first = openHere();
      await first.round();
      await chain.passTo(soon);
      const fork = await chain.client.snapshot();
      expect(await first.round()).to.deep.include({ timedOut: 1, failed: [] });
      expect(await world.statusOf(hire)).to.equal("timedOut");
      await first.close();
      await chain.client.revert({ id: fork });
      expect(await world.statusOf(hire)).to.equal("held");
      at += 120_000;
      const next = openHere();
      expect(await next.round()).to.deep.include({ timedOut: 0, failed: [] });
      expect(await next.round()).to.deep.include({ timedOut: 1, failed: [] });
      expect(await world.statusOf(hire)).to.equal("timedOut");
      at += 119_999;
      expect(await next.round()).to.include({ timedOut: 0 });
      expect(await store.keys("watch")).to.have.length(1);
      at += 1;
      expect(await next.round()).to.include({ timedOut: 0 });
      expect(await store.keys("watch")).to.have.length(0);
      await next.close();
    });

    it("refund a late deposit that the chain showed as settled once", async () => {
      const keeper = openHere();
      await keeper.round();
      await leaveBehind();
      await keeper.round();
      const fork = await chain.client.snapshot();
      await calls.refund(hire, buyer.address, await world.signerOf(buyer).refund(calls.idOf(hire)));
      await chain.passTo(soon);
      expect(await keeper.round()).to.include({ timedOut: 0 });
      await chain.client.revert({ id: fork });
      await chain.passTo(soon);
      at += 120_000;
      await keeper.round();
      expect(await keeper.round()).to.include({ timedOut: 1 });
      expect(await world.statusOf(hire)).to.equal("timedOut");
      await keeper.close();
    });

    it("carry a release out again, and do not send the money back when the deadline comes meanwhile", async () => {
      const keeper = openHere();
      await keeper.round();
      await keeper.release(hire, await world.signerOf(buyer).release(calls.idOf(hire)));
      const fork = await chain.client.snapshot();
      expect(await keeper.round()).to.deep.include({ released: 1, failed: [] });
      await chain.client.revert({ id: fork });
      await chain.passTo(soon);
      expect(await keeper.round()).to.deep.include({ released: 0, timedOut: 0, failed: [] });
      at += 120_000;
      expect(await keeper.round()).to.deep.include({ released: 1, timedOut: 0, failed: [] });
      expect(await world.statusOf(hire)).to.equal("released");
      await keeper.close();
    });

    it("refund an old deposit that was settled when they first read it", async () => {
      await leaveBehind();
      const fork = await chain.client.snapshot();
      await calls.release(hire, await world.signerOf(buyer).release(calls.idOf(hire)));
      const keeper = openHere();
      await keeper.round();
      await chain.client.revert({ id: fork });
      await leaveBehind();
      await keeper.round();
      await chain.passTo(soon);
      at += 120_000;
      await keeper.round();
      expect(await keeper.round()).to.include({ timedOut: 1 });
      expect(await world.statusOf(hire)).to.equal("timedOut");
      await keeper.close();
    });
  });

  describe("with a long history of settled deposits, and no memory of their own", () => {
    const HIRES = 5;
    let startBlock: bigint;
    let held: Hire;
    /** The keys that the keeper wrote. */
    let written: string[];
    beforeEach(async () => {
      startBlock = (await chain.client.getBlockNumber()) + 1n;
      const buyer = await world.person();
      const signer = world.signerOf(buyer);
      for (let n = 0; n < HIRES; n++) {
        const hire = await world.held(buyer);
        await calls.release(hire, await signer.release(calls.idOf(hire)));
      }
      held = await world.held(buyer);
      written = [];
      const { put } = store;
      store.put = async (key, value) => {
        written.push(key);
        await put(key, value);
      };
    });
    const openKey = () => `watch/${calls.idOf(held)}`;

    it("write only the deposits that are still open, and ask about the others once", async () => {
      await chain.client.mine({ blocks: 2_040 });
      // This chain knows no states of blocks that were mined many at a time.
      for (let blocks = 0; blocks < 65; blocks++) await chain.client.mine({ blocks: 1 });
      const keeper = open({ startBlock });
      let asked = 0;
      rpc.sabotage = ({ method }) => {
        if (method === "eth_call") asked++;
        return undefined;
      };
      expect(await keeper.round()).to.deep.include({ failed: [] });
      expect(written.filter((key) => key.startsWith("watch/"))).to.deep.equal([openKey()]);
      // The open deposit is asked about at the older block, and now.
      expect(asked).to.equal(HIRES + 2);
      await keeper.round();
      expect(asked, "in the next round").to.equal(HIRES + 2);
      expect(await store.keys("watch")).to.deep.equal([openKey()]);
      await keeper.close();
    });

    for (const [what, blocks, hasOldStates] of [
      ["of recent blocks", 10, true],
      ["if the provider has no older state", 2_100, false],
    ] as const) {
      it(`write the settled deposits too ${what}`, async () => {
        await chain.client.mine({ blocks });
        const keeper = open({ startBlock });
        rpc.sabotage = ({ method, params, id }) =>
          method === "eth_call" && !hasOldStates && params[1] !== "latest"
            ? { jsonrpc: "2.0", id, error: { code: -32_000, message: "missing trie node" } }
            : undefined;
        expect(await keeper.round()).to.deep.include({ failed: [] });
        expect(await store.keys("watch")).to.have.length(HIRES + 1);
        await keeper.close();
      });
    }
  });

  it("ignore deposits that are not worth the gas", async () => {
    const buyer = await world.person();
    const soon = BigInt((await chain.now()) + 5_000);
    const dust = await world.held(buyer, { deadline: soon, amount: 9_999n, fee: 0n });
    const least = await world.held(buyer, { deadline: soon, amount: 10_000n, fee: 0n });
    await chain.passTo(Number(soon));
    const keeper = open();
    expect(await keeper.round()).to.include({ timedOut: 1 });
    expect([await world.statusOf(dust), await world.statusOf(least)]).to.deep.equal(["held", "timedOut"]);
    await keeper.close();
  });

  /** Mines blocks that cost a hundred times as much as before, until the work is done. */
  async function mineWhileGasIsDear<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    const { baseFeePerGas } = await chain.client.getBlock();
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: (baseFeePerGas ?? 0n) * 100n + 10n ** 9n });
    while (!isDone) {
      await chain.client.mine({ blocks: 1 });
      await sleep(30);
    }
    return await done;
  }
  const waiting = () => chain.client.getTransactionCount({ address: account.address, blockTag: "pending" });
  const patient = () => {
    const { chainId } = chain.network;
    const sender = createTransactionSender({
      ...{ account: account.account, chainId, rpc: http(rpc.url), pollingMs: 10, replaceMs: 100, store },
    });
    return { sender, calls: createEscrowCalls({ sender, deployment: calls.deployment }) };
  };

  it("pay more for transactions that wait because the gas price rises, and send no item a second time", async () => {
    const { sender, calls } = patient();
    const keeper = open({ calls });
    const hires = await work(keeper);
    const before = await waiting();
    await chain.client.setAutomine(false);
    try {
      const round = keeper.round();
      while ((await waiting()) < before + 3) await sleep(5);
      expect(await mineWhileGasIsDear(round)).to.deep.include({
        released: 1,
        refunded: 1,
        timedOut: 1,
        failed: [],
      });
    } finally {
      await chain.client.setAutomine(true);
    }
    for (const part of parts) expect(await world.statusOf(hires[part]), part).to.equal(ends[part]);
    expect(await waiting()).to.equal(before + 3);
    expect(await store.keys("sent")).to.deep.equal([]);
    await keeper.close();
    sender.close();
  });

  it("continue after a restart with the transactions that the earlier process sent", async () => {
    const first = patient();
    const killed = open({ calls: first.calls, phaseMs: 1_000 });
    const buyer = await world.person();
    const hire = await world.held(buyer);
    await killed.release(hire, await world.signerOf(buyer).release(calls.idOf(hire)));
    const before = await waiting();
    await chain.client.setAutomine(false);
    const next = patient();
    try {
      while ((await waiting()) === before) await killed.round();
      first.sender.close();
      const keeper = open({ calls: next.calls });
      const mined = async () => {
        while ((await keeper.round()).waiting > 0) await sleep(20);
      };
      await mineWhileGasIsDear(mined());
      await keeper.close();
    } finally {
      await chain.client.setAutomine(true);
    }
    expect(await world.statusOf(hire)).to.equal("released");
    expect(await waiting(), "a second batch with the same release").to.equal(before + 1);
    await killed.close();
    next.sender.close();
  });

  it("have the same result if instructions are repeated", async () => {
    const keeper = open({ roundMs: 100 });
    keeper.start();
    const buyer = await world.person();
    const hire = await world.held(buyer);
    const signature = await world.signerOf(buyer).release(calls.idOf(hire));
    while ((await world.statusOf(hire)) === "held") {
      await keeper.release(hire, signature);
      await sleep(5);
    }
    await keeper.close();
  });
});
