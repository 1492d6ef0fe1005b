import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { createBuyer } from "tallystick-sdk/createBuyer";
import { createSeller } from "tallystick-sdk/createSeller";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { type EscrowRelay, walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import { createKeeper, type Keeper } from "tallystick-sdk/escrow/keeper";
import { SURE_MS } from "tallystick-sdk/escrow/keeperInstructions";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { MOODS, ONLY_ON_CHAIN } from "../../tools/bench/keeper/hostileWallet.ts";
import { openKeeperWorld, WORD } from "../../tools/bench/keeper/keeperWorld.ts";
import { endAtEveryWrite, type MortalProcess } from "../support/endAtEveryWrite.ts";
import { MEAN, mean, NODE, type OpenSeller } from "./support/market.ts";
import { newWallet, PROVIDER, type Wallet } from "./support/sdkChain.ts";
import { newPurse, useMarket } from "./support/useMarket.ts";

const MODE = `platform_escrow:${PROVIDER}`;
const PRICE = parseUsdc("0.05");
const LIMIT = parseUsdc("1.00");
const ORDER = {
  capability: MEAN,
  params: { data: [1, 2, 6] },
  maxPriceUsdc: "0.10",
  maxLatencyMs: 60_000,
  deadlineMs: 100_000,
};
const KEY = { ...ORDER, idempotencyKey: "order-17" };
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };
/** After this time no other process can still work on the hire. */
const LATER_MS = 120_000;
const LIES = MOODS.burnsGas + ONLY_ON_CHAIN;
const DAY_S = 86_400;

describe("a process that ends at any of its writes, and the next process,", function () {
  this.timeout(600_000);
  const world = useMarket();

  type Scene = { store: KeyValueStore; wallet: Wallet & { paid: () => Promise<bigint> } };
  const open = async (): Promise<Scene> => ({ store: memoryStore(), wallet: await newPurse(world.chain) });
  const relay = (): EscrowRelay =>
    walletRelay(
      createEscrowCalls({
        sender: world.chain.sender,
        deployment: { chainId: world.chain.network.chainId, escrow: world.chain.escrow },
      }),
    );
  const budgetOf = (store: KeyValueStore) => storeBudget({ store, name: "mine", limit: LIMIT });

  /** The buyer's process. The first process loses all its connections when it ends. */
  const buyerOf = ({ store, wallet }: Scene, ahead: number, process?: MortalProcess) => {
    const kept = process ? process.store(store) : store;
    const fetch: typeof world.market.fetch = (...given) => world.market.fetch(...given);
    const own = relay();
    return createBuyer({
      account: wallet.account,
      baseUrl: NODE,
      network: world.chain.network,
      client: world.chain.client as never,
      search: world.market.search,
      budget: budgetOf(kept),
      journal: kept,
      devMode: true,
      fetch: process ? process.cut(fetch) : fetch,
      escrows: {
        [MODE]: {
          escrow: world.chain.escrow,
          relay: process
            ? {
                deposit: process.cut(own.deposit),
                markDelivered: process.cut(own.markDelivered),
                release: process.cut(own.release),
                refund: process.cut(own.refund),
                state: process.cut(own.state),
              }
            : own,
        },
      },
      now: () => Date.now() + ahead,
      chainNow: () => Date.now() + chainAhead,
    });
  };
  /** The milliseconds by which the chain's clock is ahead. The clocks of all parties follow it. */
  let chainAhead = 0;
  const followChain = async () => {
    chainAhead = Math.max(0, (await world.chain.now()) * 1_000 - Date.now());
  };
  /**
   * The buyers of all tests, the write at which each buyer's process ended, and the amount that each had paid by then. `order`:
   * a call with a key that has given its result.
   */
  const ended: { scene: Scene; at: string; paid: bigint; order?: typeof KEY & { mode?: string } }[] = [];

  const sellerByEscrow = async (handler: typeof mean): Promise<OpenSeller> => {
    const wallet = newWallet();
    const { network, escrow } = world.chain;
    return await world.market.openSeller({
      account: wallet.account,
      listings: [{ ...LISTING, payment_mode: MODE }],
      handlers: { [MEAN]: handler },
      modes: { [MODE]: escrowMode({ account: wallet.account, network, escrow, relay: relay() }) },
    });
  };

  it("of a seller: the ledger has one receipt for each payment on the chain, and no other receipts", async () => {
    type Shop = Scene & { seller: OpenSeller };
    let receipts = 0;
    const writes = await endAtEveryWrite<Shop>({
      open: async () => ({ ...(await open()), seller: undefined as never }),
      run: async (scene, process) => {
        world.market.offers.length = 0;
        scene.seller = await world.market.openSeller({
          listings: [LISTING],
          handlers: { [MEAN]: process.cut(mean) },
          store: process.store(scene.store),
          client: world.chain.client as never,
          fetch: process.cut(world.market.fetch),
          facilitator: {
            verify: process.cut((...given) => world.chain.facilitator.verify(...given)),
            settle: process.cut((...given) => world.chain.facilitator.settle(...given)),
            getSupported: () => world.chain.facilitator.getSupported(),
          },
        });
        const buyer = buyerOf({ ...scene, store: memoryStore() }, 0);
        await buyer.hire(ORDER);
        while ((await scene.seller.waitingReceipts()) > 0) await new Promise((done) => setTimeout(done, 10));
      },
      resume: async (scene) => {
        if (scene.seller === undefined) return;
        const next = await createSeller({
          ...scene.seller.parameters,
          handlers: { [MEAN]: mean },
          store: scene.store,
          facilitator: world.chain.facilitator,
          fetch: world.market.fetch,
          now: () => Date.now() + LATER_MS,
        });
        await next.resume();
        while ((await next.waitingReceipts()) > 0) await new Promise((done) => setTimeout(done, 10));
        await next.close();
      },
      check: async (scene, at) => {
        const paid = await scene.wallet.paid();
        expect(paid === 0n || paid === PRICE, `${at}: paid ${paid}`).to.equal(true);
        const lines = (
          await world.market.ledger.get(`/v1/ledger/entries?from=0&to=${world.market.ledger.ledger.size}`)
        ).text.split("\n");
        const found = lines
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line).payload)
          .filter(({ type, body }) => type === "receipt" && body.buyer === scene.wallet.address);
        expect(found, at).to.have.length(paid === 0n ? 0 : 1);
        receipts += found.length;
      },
    });
    expect(writes).to.be.greaterThan(5);
    expect(receipts).to.be.greaterThan(1);
  });

  it("of a buyer in direct mode: it pays at most once, finds the hire again, and books the payment", async () => {
    await world.market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const writes = await endAtEveryWrite({
      open,
      run: (scene, process) => buyerOf(scene, 0, process).hire(KEY),
      resume: (scene) => buyerOf(scene, LATER_MS).resume(),
      check: async (scene, at) => {
        const next = buyerOf(scene, LATER_MS);
        const outcome = await next.hire(KEY).catch((error) => error);
        if (outcome instanceof Error) expect(outcome, at).to.have.property("hireId");
        else expect(outcome.result, at).to.deep.equal({ result: 3 });
        const paid = await scene.wallet.paid();
        expect(paid === 0n || paid === PRICE, `${at}: paid ${paid}`).to.equal(true);
        await next.hire(KEY).catch(() => {});
        expect(await scene.wallet.paid(), `${at}: called again`).to.equal(paid);
        ended.push({ scene, at: `direct, ${at}`, paid });
      },
    });
    expect(writes).to.be.greaterThan(5);
  });

  for (const [what, handler, most] of [
    ["is served", mean, PRICE],
    ["is cheated", () => ({ result: 1e9 }), 0n],
  ] as const) {
    it(`of a buyer in escrow mode that ${what}: the right party has the money, and the budget books it`, async () => {
      const seller = await sellerByEscrow(handler);
      let earned = 0n;
      const writes = await endAtEveryWrite({
        open,
        run: (scene, process) => buyerOf(scene, 0, process).hire({ ...KEY, mode: MODE }),
        resume: (scene) => buyerOf(scene, LATER_MS).resume(),
        check: async (scene, at) => {
          const paid = await scene.wallet.paid();
          expect(paid === 0n || paid === most, `${at}: paid ${paid}`).to.equal(true);
          expect(await world.chain.balanceOf({ address: world.chain.escrow }), `${at}: held`).to.equal(0n);
          ended.push({ scene, at: `by escrow, ${what}, ${at}`, paid });
          earned += paid;
        },
      });
      expect(writes).to.be.greaterThan(5);
      expect(await world.chain.balanceOf(seller)).to.equal(earned);
      expect(earned >= most, "the hire without an end").to.equal(true);
    });
  }

  for (const mode of ["direct", MODE]) {
    it(`of a buyer that only calls again with its key (${mode}): no result is lost that was paid for`, async () => {
      if (mode === "direct")
        await world.market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
      else await sellerByEscrow(mean);
      let results = 0;
      const writes = await endAtEveryWrite({
        open,
        run: (scene, process) => buyerOf(scene, 0, process).hire({ ...KEY, mode }),
        resume: async () => {},
        check: async (scene, at) => {
          const call = () =>
            buyerOf(scene, LATER_MS)
              .hire({ ...KEY, mode })
              .catch((error) => error);
          let outcome = await call();
          const paid = await scene.wallet.paid();
          expect(paid === 0n || paid === PRICE, `${at}: paid ${paid}`).to.equal(true);
          // On a machine that stands still, a seller may seem silent.
          if (outcome instanceof Error && paid > 0n) outcome = await call();
          if (outcome instanceof Error) {
            // The payment was signed and not sent.
            expect(outcome, at)
              .to.have.property("code")
              .that.is.oneOf(["seller_timeout", "seller_unreachable"]);
            expect(paid, at).to.equal(0n);
          } else {
            expect(outcome.result, at).to.deep.equal({ result: 3 });
            const again = await buyerOf(scene, LATER_MS).hire({ ...KEY, mode });
            expect([again.result, again.isRepeated], at).to.deep.equal([{ result: 3 }, true]);
            results++;
          }
          const order = outcome instanceof Error ? {} : { order: { ...KEY, mode } };
          ended.push({ scene, at: `called again, ${mode}, ${at}`, paid, ...order });
        },
      });
      expect(writes).to.be.greaterThan(5);
      expect(results).to.be.greaterThan(5);
    });
  }

  it("of a buyer that is stopped while it signs: nothing was sent, so its key may hire again", async () => {
    await world.market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const writes = await endAtEveryWrite({
      open,
      run: async (scene, process) => {
        const stop = new AbortController();
        const { account } = scene.wallet;
        const signTypedData: typeof account.signTypedData = async (data) => {
          const signature = await account.signTypedData(data);
          stop.abort();
          return signature;
        };
        const wallet = { ...scene.wallet, account: { ...account, signTypedData } };
        const buyer = buyerOf({ ...scene, wallet }, 0, process);
        await buyer.hire({ ...KEY, signal: stop.signal }).catch(() => {});
        await buyer.idle();
      },
      resume: async () => {},
      check: async (scene, at) => {
        const outcome = await buyerOf(scene, LATER_MS)
          .hire(KEY)
          .catch((error) => error);
        // A process that was killed before it undid the signature leaves a payment that is over when it expires.
        if (outcome instanceof Error) expect(outcome, at).to.have.property("code", "seller_timeout");
        else expect(outcome.result, at).to.deep.equal({ result: 3 });
        const order = outcome instanceof Error ? {} : { order: KEY };
        ended.push({ scene, at: `stopped, ${at}`, paid: await scene.wallet.paid(), ...order });
      },
    });
    expect(writes).to.be.greaterThan(5);
  });

  it("of a keeper: it carries out each instruction once, returns each deposit in time, and counts all gas", async () => {
    const people = await openKeeperWorld(world.chain);
    /** The time of the keepers: two minutes later they are sure of what is settled, and forget it. */
    let ahead = 0;
    const keeperOf = (store: KeyValueStore, process?: MortalProcess) =>
      createKeeper({
        calls: process ? { ...people.calls, batch: process.cut(people.calls.batch) } : people.calls,
        store: process ? process.store(store) : store,
        worth: people.worth,
        now: () => Date.now() + ahead,
      });
    /** Two rounds of a keeper: the second one after it is sure. */
    const rounds = async (keeper: Keeper) => {
      await keeper.round();
      ahead += SURE_MS;
      await keeper.round();
    };
    type Kept = {
      store: KeyValueStore;
      hires: { [status: string]: Hire };
      words: (keeper: Keeper) => Promise<void>;
      trap: Hire;
    };
    const writes = await endAtEveryWrite<Kept>({
      open: async () => {
        const [buyer, safe, liar] = [await people.person(), await people.wallet(), await people.wallet(LIES)];
        const signer = people.signerOf(buyer);
        const soon = BigInt((await world.chain.now()) + 5_000);
        const released = await people.held(buyer);
        const refunded = await people.held(buyer);
        const late = await people.held(buyer, { deadline: soon });
        const { hire: bySafe } = await people.heldBy(safe.address);
        const { hire: trap } = await people.heldBy(liar.address);
        const release = await signer.release(people.calls.idOf(released));
        const refund = await signer.refund(people.calls.idOf(refunded));
        await world.chain.passTo(Number(soon));
        return {
          store: memoryStore(),
          trap,
          hires: { released, refunded, timedOut: late, "released by a contract wallet": bySafe },
          // A party that gets no answer sends its instruction again.
          words: async (keeper) => {
            await keeper.release(released, release).catch(unlessSettled);
            await keeper.refund(refunded, buyer.address, refund).catch(unlessSettled);
            await keeper.release(bySafe, WORD).catch(unlessSettled);
            await keeper.release(trap, WORD).catch(unlessSettled);
          },
        };
      },
      run: async ({ store, words }, process) => {
        const keeper = keeperOf(store, process);
        await words(keeper);
        await rounds(keeper);
      },
      resume: async ({ store, words }) => {
        const keeper = keeperOf(store);
        await words(keeper);
        // A batch of the process that ended may be mined only now, and be faster than this keeper's.
        await keeper.round();
        await rounds(keeper);
      },
      check: async ({ store, hires, trap }, at) => {
        for (const [end, hire] of Object.entries(hires)) {
          expect(await people.statusOf(hire), at).to.equal(end.split(" ")[0]);
        }
        expect(await people.statusOf(trap), at).to.equal("held");
        const account = await store.get<{ lost: number }>(`gas/${trap.buyer}.words`);
        expect(account?.lost, `${at}: the liar's gas`).to.be.within(100_000, 200_000);
        const kept = [...(await store.keys("release")), ...(await store.keys("refund"))];
        const ofTrap = people.calls.idOf(trap);
        expect(
          kept.filter((key) => !key.includes(ofTrap)),
          `${at}: settled, and not forgotten`,
        ).to.deep.equal([]);
        // The keeper reads the newest blocks again, so it may watch a settled deposit again.
        const watched = await store.get<object>(`watch/${people.calls.idOf(hires.timedOut as Hire)}`);
        if (watched) expect(watched, `${at}: returned, and not settled`).to.have.property("settledAt");
      },
    });
    expect(writes).to.be.greaterThan(20);
  });

  it("of a buyer, a day later: the paid amounts are booked, no hire is left open, and no result is lost", async () => {
    expect(ended).to.have.length.above(30);
    // All earlier signatures have expired, and the earlier sellers are gone. No result is asked for again.
    await world.chain.passTo((await world.chain.now()) + DAY_S + 3_600);
    await followChain();
    for (const { scene, at, paid, order } of ended) {
      await buyerOf(scene, chainAhead).resume();
      if (order) {
        const { result, isRepeated } = await buyerOf(scene, chainAhead).hire(order);
        expect([result, isRepeated], `${at}: called once more`).to.deep.equal([{ result: 3 }, true]);
      }
      expect(await scene.wallet.paid(), `${at}: paid`).to.equal(paid);
      expect(LIMIT - (await budgetOf(scene.store).remaining()), `${at}: booked`).to.equal(paid);
      expect(await scene.store.keys("hire"), `${at}: left open`).to.deep.equal([]);
    }
  });
});

/**
 * The keeper may refuse a repeated instruction, because it is carried out already or its wallet has cost too much gas.
 */
function unlessSettled(error: { code?: string; reason?: string }): void {
  if (error.reason !== "WrongStatus" && error.code !== "gas_limit") throw error;
}
