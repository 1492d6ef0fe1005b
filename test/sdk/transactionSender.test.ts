import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import { TallystickError } from "tallystick-protocol/errors";
import { type Departure, SentTransactions } from "tallystick-sdk/chain/sentTransactions";
import { type ContractCall, createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { createPublicClient, custom, type Hex } from "viem";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

/** The caller still waits. */
const going: Departure = { leave: () => {}, stay: () => {} };

describe("a sender of transactions", () => {
  let chain: SdkChain;
  let wallet: Wallet;
  let to: Wallet;
  let store: KeyValueStore;

  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
  });
  after(() => chain.close());
  beforeEach(async () => {
    [wallet, to] = [newWallet(), newWallet()];
    store = memoryStore();
    await chain.client.setBalance({ address: wallet.address, value: 10n ** 22n });
    await chain.client.setAutomine(false);
  });
  afterEach(() => chain.client.setAutomine(true));

  const open = (changes: Partial<Parameters<typeof createTransactionSender>[0]> = {}) =>
    createTransactionSender({
      ...{ account: wallet.account, chainId: chain.network.chainId, rpc: chain.transport },
      ...{ pollingMs: 10, replaceMs: 80, store },
      ...changes,
    });
  const mint = (value: bigint): ContractCall => ({
    address: chain.token,
    abi: testUsdcAbi,
    functionName: "mint",
    args: [to.address, value],
  });
  const count = (blockTag: "latest" | "pending" = "latest") =>
    chain.client.getTransactionCount({ address: wallet.address, blockTag });
  /** From the next block on, gas costs a hundred times as much. */
  const raiseGas = async () => {
    const { baseFeePerGas } = await chain.client.getBlock();
    await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: (baseFeePerGas ?? 0n) * 100n + 10n ** 9n });
  };
  async function mineUntil(isDone: () => boolean | Promise<boolean>): Promise<void> {
    for (let blocks = 0; !(await isDone()); blocks++) {
      expect(blocks).to.be.lessThan(500);
      await chain.client.mine({ blocks: 1 });
      await sleep(20);
    }
  }
  async function mineDuring<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const ended = work.finally(() => {
      isDone = true;
    });
    ended.catch(() => {});
    await mineUntil(() => isDone);
    return await ended;
  }

  it("pays more for a transaction that is not mined, and the transactions after it follow, each once", async () => {
    const sender = open();
    const hash = await sender.send(mint(1n));
    const others = [sender.sendAndWait(mint(10n)), sender.sendAndWait(mint(100n))];
    while ((await count("pending")) < 3) await sleep(5);
    await raiseGas();
    const receipt = sender.wait(hash);
    const [first, ...rest] = await mineDuring(Promise.all([receipt, ...others]));
    expect(first?.transactionHash).not.to.equal(hash);
    expect([first, ...rest].map((it) => it?.status)).to.deep.equal(["success", "success", "success"]);
    expect(await chain.balanceOf(to)).to.equal(111n);
    expect(await count("pending")).to.equal(3);
    expect(sender.isUnmined(hash)).to.equal(false);
    expect(await store.keys("sent")).to.deep.equal([]);
    sender.close();
  });

  it("does not pay more while no block comes, because a higher price does not help then", async () => {
    const sender = open({ replaceMs: 10 });
    const hash = await sender.send(mint(1n));
    await sleep(300);
    const [block] = await pending();
    const { maxFeePerGas } = await chain.client.getTransaction({ hash: block ?? hash });
    const { maxFeePerGas: first } = await chain.client.estimateFeesPerGas();
    // The sender may raise the price once, because its first look cannot know how long no block has come.
    expect(Number(maxFeePerGas) / Number(first)).to.be.lessThan(1.5);
    sender.close();
    await chain.client.mine({ blocks: 1 });
  });

  it("continues with a transaction that an earlier process sent, and gives its nonce to no other transaction", async () => {
    const first = open();
    await first.send(mint(1n));
    first.close();
    await raiseGas();
    await chain.client.mine({ blocks: 1 });
    const second = open();
    const unmined = await second.unmined();
    expect(unmined).to.have.length(1);
    const next = second.sendAndWait(mint(10n));
    await mineDuring(Promise.all([unmined[0]?.mined, next]));
    expect(await chain.balanceOf(to)).to.equal(11n);
    expect(await count("pending")).to.equal(2);
    second.close();
  });

  it("goes on although a transaction of an earlier process is damaged in its store, and names it", async () => {
    const earlier = open();
    for (const value of [1n, 10n]) await earlier.send(mint(value));
    earlier.close();
    const damaged = `sent/${wallet.address}.${chain.network.chainId}.0`;
    expect(await store.keys("sent")).to.include(damaged);
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (key === damaged) throw new TallystickError({ code: "unreadable_value", message: key });
      return await store.get<T>(key);
    };
    const lines: unknown[] = [];
    const sender = open({ store: { ...store, get }, log: (...line) => lines.push(line) });
    await mineDuring(sender.sendAndWait(mint(100n)));
    expect(await chain.balanceOf(to)).to.equal(111n);
    expect(lines).to.have.length(1);
    expect(JSON.stringify(lines)).to.contain(damaged);
    sender.close();
  });

  it("sends at once a transaction that an earlier process only stored, and does not send the same call twice", async () => {
    const first = open();
    const hash = await first.send(mint(1n));
    first.close();
    await chain.client.dropTransaction({ hash });
    const second = open({ replaceMs: 600_000 });
    expect(await second.send(mint(1n))).to.equal(hash);
    await mineDuring(second.wait(hash));
    expect(await chain.balanceOf(to)).to.equal(1n);
    expect(await count("pending")).to.equal(1);
    // After it is mined, the same call is a new transaction.
    await mineDuring(second.sendAndWait(mint(1n)));
    expect(await chain.balanceOf(to)).to.equal(2n);
    second.close();
  });

  it("uses the nonce of a stuck transaction that it does not know, so that its own transactions follow", async () => {
    const stranger = open({ store: memoryStore(), replaceMs: 600_000 });
    await stranger.send(mint(1n));
    stranger.close();
    const sender = open();
    // This call gives its gas, because an estimate would include the other transaction.
    const sent = sender.sendAndWait({ ...mint(10n), gas: 100_000n });
    while ((await count("pending")) < 2) await sleep(5);
    await raiseGas();
    await mineDuring(sent);
    expect(await chain.balanceOf(to), "the unknown call may be another's: it is not repeated").to.equal(10n);
    expect(await count()).to.equal(2);
    sender.close();
  });

  it("pays more in the next attempt if the node hides the transaction that has the nonce", async () => {
    const stranger = open({ store: memoryStore(), replaceMs: 600_000 });
    await stranger.send(mint(1n));
    stranger.close();
    await raiseGas();
    // This chain does not count transactions whose price is too low for the next block.
    await chain.client.mine({ blocks: 1 });
    expect(await count("pending")).to.equal(0);
    const sender = open();
    const refused = await rejection(sender.sendAndWait(mint(10n)));
    expect(refused).to.include({ code: "chain_unreachable", neverSent: false });
    await mineDuring(sender.sendAndWait(mint(10n)));
    expect(await chain.balanceOf(to)).to.equal(10n);
    sender.close();
  });

  it("sends a transaction again if the node has lost it", async () => {
    const sender = open();
    const hash = await sender.send(mint(1n));
    await chain.client.dropTransaction({ hash });
    await mineDuring(sender.wait(hash));
    expect(await chain.balanceOf(to)).to.equal(1n);
    sender.close();
  });

  it("counts a transaction as sent if the node knows it, even if the answer was lost", async () => {
    const isLost = { now: true };
    const request = chain.connection.provider.request.bind(chain.connection.provider);
    const rpc = custom(
      {
        request: async (it: { method: string; params?: unknown }) => {
          const answer = await request(it as never);
          if (it.method === "eth_sendRawTransaction" && isLost.now) throw new Error("socket hang up");
          return answer;
        },
      },
      { retryCount: 0 },
    );
    const sender = open({ rpc });
    await mineDuring(sender.sendAndWait(mint(1n)));
    expect(await chain.balanceOf(to)).to.equal(1n);
    expect(await count()).to.equal(1);
    sender.close();
  });

  it("says that its account has no ether, and does not send the call later", async () => {
    await chain.client.setBalance({ address: wallet.address, value: 0n });
    const sender = open();
    // A call with its own gas is not simulated, so only the node refuses it.
    const error = await rejection(sender.send({ ...mint(1n), gas: 100_000n }));
    expect(error).to.include({ code: "no_gas_money", neverSent: true });
    expect(error.message).to.contain(wallet.address);
    expect(await store.keys("sent")).to.deep.equal([]);
    await chain.client.setBalance({ address: wallet.address, value: 10n ** 22n });
    await mineDuring(sender.sendAndWait(mint(10n)));
    expect(await chain.balanceOf(to)).to.equal(10n);
    sender.close();
  });

  it("does not say that nothing was sent if its store cannot forget the call of an account without ether", async () => {
    await chain.client.setBalance({ address: wallet.address, value: 0n });
    const sender = open();
    store.delete = () => Promise.reject(new Error("EROFS"));
    const error = await rejection(sender.send({ ...mint(1n), gas: 100_000n }));
    expect(error).to.include({ code: "no_gas_money", neverSent: false });
    expect(error.hint).to.contain("not known").and.not.contain("Nothing was sent");
    sender.close();
  });

  it("refuses a call that needs more gas than may be spent on it, and sends nothing", async () => {
    const sender = await open();
    const refused = await rejection(sender.send({ ...mint(1n), maxGas: 1n }));
    expect(refused).to.include({ code: "call_refused", neverSent: true });
  });

  it("sends a call with the most gas that may be spent on it, if the call needs no more", async () => {
    const sender = open();
    const needed = await chain.client.estimateContractGas({ ...mint(1n), account: wallet.account } as never);
    const refused = await rejection(sender.send({ ...mint(1n), maxGas: needed - 1n }));
    expect(refused).to.include({ code: "call_refused", neverSent: true });
    const hash = await sender.send({ ...mint(1n), maxGas: needed });
    expect((await chain.client.getTransaction({ hash })).gas).to.equal(needed);
    sender.close();
    await chain.client.mine({ blocks: 1 });
  });

  it("reports that another transaction of the account has used the nonce", async () => {
    const { chainId } = chain.network;
    const client = createPublicClient({ transport: chain.transport, cacheTime: 0 });
    const it_ = new SentTransactions({
      ...{
        account: wallet.account,
        chainId,
        client,
        store,
        replaceMs: 600_000,
        pollingMs: 10,
        missingMs: 100,
      },
    });
    await it_.load();
    const hash = await it_.send({ nonce: 0, to: to.address, data: "0x", gas: 21_000n }, going);
    await chain.client.dropTransaction({ hash });
    const other = open({ store: memoryStore() });
    await mineDuring(other.sendAndWait(mint(1n)));
    const error = await rejection(it_.wait(hash, 60_000));
    expect(error).to.include({ code: "chain_unreachable", neverSent: false });
    expect(await store.keys("sent")).to.deep.equal([]);
    it_.close();
    other.close();
  });

  it("uses no nonce again that a node far behind does not count yet, and believes a number that stays lower", async () => {
    /** How many answers still come from the node that is behind. */
    let behind = 0;
    const request = chain.connection.provider.request.bind(chain.connection.provider);
    const rpc = custom(
      {
        request: async (it: { method: string; params?: unknown[] }) => {
          const isCount = it.method === "eth_getTransactionCount" && it.params?.[1] === "pending";
          return isCount && behind-- > 0 ? "0x0" : await request(it as never);
        },
      },
      { retryCount: 0 },
    );
    const sender = open({ rpc });
    const fork = await chain.client.snapshot();
    await mineDuring(sender.sendAndWait(mint(1n)));
    behind = 2;
    await mineDuring(sender.sendAndWait(mint(10n)));
    expect(await chain.balanceOf(to)).to.equal(11n);
    expect(await count()).to.equal(2);
    await chain.client.revert({ id: fork });
    behind = 0;
    await mineDuring(sender.sendAndWait(mint(100n)));
    expect(await count(), "after a reorganisation").to.equal(1);
    sender.close();
  });

  for (const outage of ["receipts", "answers at all", "its block"]) {
    it(`does not count the time without ${outage} as time in which a mined transaction has no receipt`, async () => {
      let time = 0;
      /** How the node answers now, and what it was asked since then. */
      let node: "behind" | "away" | "well" = "well";
      let asked: string[] = [];
      const request = chain.connection.provider.request.bind(chain.connection.provider);
      const answer = async (it: { method: string }) => {
        asked.push(it.method);
        const isReceipt = it.method === "eth_getTransactionReceipt";
        // As if a reorganisation had undone the block, until another block has the transaction.
        if (node === "away" && outage === "its block" && it.method === "eth_getTransactionCount")
          return "0x0";
        if (node === "away" && outage !== "its block" && (isReceipt || outage !== "receipts"))
          throw new Error("HTTP 503");
        return node === "behind" && isReceipt ? null : await request(it as never);
      };
      const client = createPublicClient({ transport: custom({ request: answer }, { retryCount: 0 }) });
      const transactions = new SentTransactions({
        ...{ account: wallet.account, chainId: chain.network.chainId, client, store },
        ...{ replaceMs: 600_000, pollingMs: 5, clock: () => time },
      });
      await transactions.load();
      const hash = await transactions.send({ nonce: 0, to: to.address, data: "0x", gas: 21_000n }, going);
      const waited = transactions.wait(hash, 60_000);
      waited.catch(() => {});
      node = "behind";
      await chain.client.mine({ blocks: 1 });
      /** Waits until the node was asked a second time in this state, so that one look is complete. */
      const looks = async (state: typeof node) => {
        node = state;
        asked = [];
        const isReceipt = (method: string) => state === "away" || method === "eth_getTransactionReceipt";
        while (asked.filter(isReceipt).length < 2) {
          expect(transactions.isUnmined(hash)).to.equal(true);
          await sleep(2);
        }
      };
      await looks("behind");
      await looks("away");
      time += 100_000;
      await looks("away");
      await looks("behind");
      time += 59_000;
      await looks("behind");
      node = "well";
      expect((await waited)?.transactionHash).to.equal(hash);
      transactions.close();
    });
  }

  it("reports a lost transaction also if the node fails again and again", async () => {
    let time = 0;
    let isAway = false;
    let looks = 0;
    const request = chain.connection.provider.request.bind(chain.connection.provider);
    const answer = async (it: { method: string }) => {
      if (it.method !== "eth_getTransactionReceipt") return await request(it as never);
      looks++;
      if (isAway) throw new Error("HTTP 503");
      return null;
    };
    const client = createPublicClient({ transport: custom({ request: answer }, { retryCount: 0 }) });
    const transactions = new SentTransactions({
      ...{ account: wallet.account, chainId: chain.network.chainId, client, store },
      ...{ replaceMs: 600_000, pollingMs: 5, clock: () => time },
    });
    await transactions.load();
    const hash = await transactions.send({ nonce: 0, to: to.address, data: "0x", gas: 21_000n }, going);
    const lost = rejection(transactions.wait(hash, 60_000));
    await chain.client.mine({ blocks: 1 });
    /** Waits until two looks have ended in this state. */
    const looked = async () => {
      looks = 0;
      while (looks < 3 && transactions.isUnmined(hash)) await sleep(2);
    };
    for (let outages = 0; outages < 3; outages++) {
      await looked();
      time += 25_000;
      await looked();
      isAway = true;
      await looked();
      isAway = false;
    }
    expect(await lost).to.include({ code: "chain_unreachable" });
    transactions.close();
  });

  describe("whose calls get the same nonce", () => {
    /** Resolves when a request of this method waits for `goOn`. */
    const hold = (method: string) => {
      const [held, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let isFirst = true;
      const { chainId } = chain.network;
      const client = createPublicClient({ transport: chain.transport, cacheTime: 0 });
      const request = client.request.bind(client) as (it: { method: string }) => Promise<unknown>;
      const waiting = async (it: { method: string }) => {
        if (it.method === method && isFirst) {
          isFirst = false;
          held.resolve();
          await goOn.promise;
        }
        return await request(it);
      };
      const slow = createPublicClient({ transport: custom({ request: waiting as never }), cacheTime: 0 });
      const own = { account: wallet.account, chainId, client: slow, store };
      const transactions = new SentTransactions({ ...own, replaceMs: 600_000, pollingMs: 10 });
      return { transactions, held: held.promise, goOn: goOn.resolve };
    };
    const pay = (value: number) => ({
      ...{ nonce: 0, to: to.address, gas: 100_000n },
      data: `0x${value.toString(16).padStart(2, "0")}` as Hex,
    });
    const stored = () =>
      store.get<{ data: Hex; hashes: Hex[] }>(`sent/${wallet.address}.${chain.network.chainId}.0`);

    for (const isOver of [true, false]) {
      it(`keeps the sent one if the ${isOver ? "call that was given up" : "other call"} gets its fees later`, async () => {
        const { transactions, held, goOn } = hold("eth_getBlockByNumber");
        await transactions.load();
        const leave = () => {
          if (isOver) throw new Error("nobody waits");
        };
        const slow = rejection(transactions.send(pay(1), { ...going, leave }));
        await held;
        const hash = await transactions.send(pay(2), going);
        goOn();
        expect(await slow).to.be.an("error");
        expect(transactions.isUnmined(hash)).to.equal(true);
        expect(transactions.unmined().map(({ data }) => data)).to.deep.equal(["0x02"]);
        expect(await stored()).to.include({ data: "0x02" });
        const mined = await mineDuring(transactions.wait(hash, 60_000));
        expect(mined?.status).to.equal("success");
        transactions.close();
      });
    }

    it("sends and stores only the last one if the store is slow", async () => {
      const { transactions } = hold("none");
      await transactions.load();
      const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { put } = store;
      let writes = 0;
      store.put = async (key, value) => {
        if (writes++ === 0) {
          asked.resolve();
          await goOn.promise;
        }
        await put(key, value);
      };
      const slow = rejection(transactions.send(pay(1), going));
      await asked.promise;
      const left = Promise.withResolvers<void>();
      const sent = transactions.send(pay(2), { ...going, leave: left.resolve });
      await left.promise;
      goOn.resolve();
      expect(await slow)
        .to.have.property("message")
        .that.includes("nonce 0");
      const hash = await sent;
      expect(await stored()).to.include({ data: "0x02" });
      expect(await pending()).to.deep.equal([hash]);
      await mineDuring(transactions.wait(hash, 60_000));
      transactions.close();
    });

    it("knows the second of two equal ones if the store refuses the first one late", async () => {
      const { transactions } = hold("none");
      await transactions.load();
      const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { put } = store;
      let writes = 0;
      store.put = async (key, value) => {
        if (writes++ > 0) return await put(key, value);
        asked.resolve();
        await goOn.promise;
        throw new Error("EIO");
      };
      const first = rejection(transactions.send(pay(1), going));
      await asked.promise;
      const left = Promise.withResolvers<void>();
      const second = transactions.send(pay(1), { ...going, leave: left.resolve });
      await left.promise;
      goOn.resolve();
      expect(await first).to.be.an("error");
      const hash = await second;
      expect(transactions.isUnmined(hash)).to.equal(true);
      expect((await mineDuring(transactions.wait(hash, 60_000)))?.status).to.equal("success");
      transactions.close();
    });

    it("sends nothing more after it is closed, also if a call gets its fees later", async () => {
      const { transactions, held, goOn } = hold("eth_getBlockByNumber");
      await transactions.load();
      const late = rejection(transactions.send(pay(1), going));
      await held;
      transactions.close();
      goOn();
      expect(await late)
        .to.have.property("message")
        .that.includes("was closed");
      expect([await stored(), await pending()]).to.deep.equal([undefined, []]);
    });

    /** Transactions whose requests go through `answer`. `asked` has the requests so far, with their blocks. */
    const through = (
      answer: (it: { method: string; params?: unknown[] }, ask: () => Promise<unknown>) => Promise<unknown>,
      changes: { replaceMs?: number; clock?: () => number } = {},
    ) => {
      const asked: string[] = [];
      const request = chain.connection.provider.request.bind(chain.connection.provider);
      const noting = async (it: { method: string; params?: unknown[] }) => {
        const said = await answer(it, () => request(it as never));
        asked.push(`${it.method} ${it.params?.[1] ?? ""}`.trim());
        return said;
      };
      const client = createPublicClient({
        transport: custom({ request: noting as never }, { retryCount: 0 }),
        cacheTime: 0,
      });
      const own = { account: wallet.account, chainId: chain.network.chainId, client, store };
      const transactions = new SentTransactions({ ...own, replaceMs: 600_000, pollingMs: 5, ...changes });
      /** Waits until this was asked so many times more. */
      const until = async (what: string, times: number): Promise<void> => {
        const before = asked.length;
        while (asked.slice(before).filter((it) => it === what).length < times) await sleep(2);
      };
      return { transactions, until };
    };

    it("keeps the first one if a look at the node shows that it was taken, while the second one gets its fees", async () => {
      let isLost = true;
      const [held, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { transactions, until } = through(async ({ method }, ask) => {
        if (isLost && method === "eth_getTransactionByHash") throw new Error("away");
        if (!isLost && method === "eth_getBlockByNumber") {
          held.resolve();
          await goOn.promise;
        }
        const said = await ask();
        if (isLost && method === "eth_sendRawTransaction") throw new Error("socket hang up");
        return said;
      });
      await transactions.load();
      await rejection(transactions.send(pay(1), going));
      isLost = false;
      const second = rejection(transactions.send(pay(2), going));
      await held.promise;
      await until("eth_getTransactionCount latest", 3);
      goOn.resolve();
      expect(await second)
        .to.have.property("message")
        .that.includes("nonce 0");
      expect(transactions.unmined().map(({ data }) => data)).to.deep.equal(["0x01"]);
      transactions.close();
    });

    it("keeps a call that gets the free nonce while it is being filled", async () => {
      let time = 0;
      const [held, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { transactions, until } = through(
        async ({ method }, ask) => {
          if (method === "eth_estimateGas") {
            held.resolve();
            await goOn.promise;
          }
          return await ask();
        },
        { replaceMs: 1_000, clock: () => time },
      );
      await transactions.load();
      await transactions.send({ ...pay(1), nonce: 1 }, going);
      await until("eth_getTransactionCount latest", 3);
      time = 1_000;
      await held.promise;
      const hash = await transactions.send(pay(2), going);
      goOn.resolve();
      await until("eth_getTransactionCount latest", 2);
      expect(transactions.unmined().map(({ data }) => data)).to.deep.equal(["0x02", "0x01"]);
      expect(await stored()).to.include({ data: "0x02" });
      expect((await mineDuring(transactions.wait(hash, 60_000)))?.status).to.equal("success");
      transactions.close();
    });

    it("ends a wait also if the store cannot delete what is mined", async () => {
      const { transactions } = hold("none");
      await transactions.load();
      const hash = await transactions.send(pay(1), going);
      store.delete = () => Promise.reject(new Error("EROFS"));
      expect((await mineDuring(transactions.wait(hash, 60_000)))?.status).to.equal("success");
      transactions.close();
    });

    it("keeps one that was perhaps sent if the store does not take the next one", async () => {
      const request = chain.connection.provider.request.bind(chain.connection.provider);
      const lost = async (it: { method: string }) => {
        if (/^eth_(sendRaw|getTransactionByHash)/.test(it.method)) throw new Error("away");
        return await request(it as never);
      };
      const client = createPublicClient({ transport: custom({ request: lost as never }, { retryCount: 0 }) });
      const own = { account: wallet.account, chainId: chain.network.chainId, client, store };
      const blind = new SentTransactions({ ...own, replaceMs: 600_000, pollingMs: 600_000 });
      await rejection(blind.send(pay(1), going));
      const hashes = (await stored())?.hashes ?? [];
      const { put } = store;
      let fails = true;
      store.put = async (key, value) => {
        if (fails) {
          fails = false;
          throw new Error("ENOSPC");
        }
        await put(key, value);
      };
      let stays = 0;
      const stay = () => void stays++;
      expect(await rejection(blind.send(pay(2), { ...going, stay }))).to.have.property("message", "ENOSPC");
      expect(stays).to.equal(1);
      expect(hashes.map((hash) => blind.isUnmined(hash))).to.deep.equal([true]);
      expect(await stored()).to.include({ data: "0x01" });
      blind.close();
    });

    it("says that nothing was sent if the store takes nothing", async () => {
      const sender = open();
      store.put = () => Promise.reject(new Error("ENOSPC"));
      expect(await rejection(sender.send(mint(1n)))).to.include({ neverSent: true });
      expect(await count("pending")).to.equal(0);
      sender.close();
    });
  });

  it("ends all waiting when it is closed, and keeps the sent transactions in the store", async () => {
    const sender = open();
    const hash = await sender.send(mint(1n));
    const waited = rejection(sender.wait(hash));
    sender.close();
    expect(await waited).to.include({ code: "chain_unreachable" });
    expect(await store.keys("sent")).to.have.length(1);
    await chain.client.mine({ blocks: 1 });
  });

  /** The hashes of the transactions that are not mined yet. */
  const pending = async (): Promise<Hex[]> => {
    const { transactions } = await chain.client.getBlock({ blockTag: "pending" });
    return transactions as Hex[];
  };
});
