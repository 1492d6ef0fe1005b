import { expect } from "chai";
import type { Hono } from "hono";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { toHireJson } from "tallystick-protocol/escrow/hireJson";
import { ChainError } from "tallystick-sdk/errors";
import { HIRE_GAS } from "tallystick-sdk/escrow/gasAccounts";
import { createKeeper, type Keeper, type KeeperParameters } from "tallystick-sdk/escrow/keeper";
import { keeperApp } from "tallystick-sdk/escrow/keeperApp";
import { SURE_MS } from "tallystick-sdk/escrow/keeperInstructions";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { MOODS, ONLY_ON_CHAIN } from "../../tools/bench/keeper/hostileWallet.ts";
import { type KeeperWorld, openKeeperWorld, WORD } from "../../tools/bench/keeper/keeperWorld.ts";
import { soakKeeper } from "../../tools/bench/keeper/soakKeeper.ts";
import { type SdkChain, startSdkChain } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const LIES = MOODS.burnsGas + ONLY_ON_CHAIN;
const DAY_MS = 86_400_000;

describe("a keeper among hostile wallets", () => {
  let chain: SdkChain;
  let world: KeeperWorld;
  let store: KeyValueStore;
  let keeper: Keeper;
  let at: number;
  let said: string[];
  /** Every batch that was sent: the items and the gas of each. */
  let batches: { count: number; gasEach: bigint }[];

  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
  });
  after(() => chain.close());
  beforeEach(async () => {
    world = await openKeeperWorld(chain);
    store = memoryStore();
    at = Date.now();
    said = [];
    batches = [];
    keeper = open();
  });
  afterEach(() => keeper.close());

  const open = (changes: Partial<KeeperParameters> = {}): Keeper =>
    createKeeper({
      calls: {
        ...world.calls,
        batch: (items, gasEach = 0n) => {
          batches.push({ count: items.length, gasEach });
          return world.calls.batch(items, gasEach);
        },
      },
      store,
      worth: world.worth,
      now: () => at,
      log: (sentence, details) => said.push(`${sentence} ${details?.reason ?? ""}`.trim()),
      ...changes,
    });
  const releaseOf = async (buyer: Awaited<ReturnType<KeeperWorld["person"]>>) => {
    const hire = await world.held(buyer);
    return { hire, signature: await world.signerOf(buyer).release(world.calls.idOf(hire)) };
  };

  it("sends the items of contract wallets separately, and checks an account with code and key by its key", async () => {
    const person = await world.person();
    const [one, two] = [await releaseOf(person), await releaseOf(person)];
    // The key of the account signed. The account also has code (EIP-7702), which would burn all gas that it gets.
    const wallet = await world.wallet(MOODS.burnsGas);
    const code = await chain.client.getCode({ address: wallet.address });
    await chain.client.setCode({ address: person.address, bytecode: code as `0x${string}` });
    await chain.client.setStorageAt({
      address: person.address,
      index: 0,
      value: `0x${"00".repeat(31)}01`,
    });
    const safe = await world.wallet();
    const { hire } = await world.heldBy(safe.address);
    await keeper.release(hire, WORD);
    for (const it of [one, two]) await keeper.release(it.hire, it.signature);
    expect(await keeper.round()).to.include({ released: 3, waiting: 0 });
    expect(batches).to.deep.equal([
      { count: 2, gasEach: 500_000n },
      { count: 1, gasEach: 150_000n },
    ]);
  });

  it("tries an item that ran out of gas once more, alone, and then drops and reports it", async () => {
    keeper = open({ gasPerWallet: 400_000 });
    const [liar, honest] = [await world.wallet(LIES), await world.wallet()];
    const trap = await world.heldBy(liar.address);
    const good = await world.heldBy(honest.address);
    await keeper.release(trap.hire, WORD);
    await keeper.release(good.hire, WORD);
    expect(await keeper.round()).to.include({ released: 1, waiting: 1 });
    const next = await world.heldBy((await world.wallet()).address);
    await keeper.release(next.hire, WORD);
    expect(await keeper.round()).to.include({ released: 1, waiting: 0 });
    expect(batches.map(({ count }) => count)).to.deep.equal([2, 1, 1]);
    expect(said.filter((line) => line.startsWith("An instruction"))).to.deep.equal([
      "An instruction failed and is tried once more, alone. InvalidSignature",
      "An instruction is dropped. InvalidSignature",
    ]);
    expect(await world.statusOf(trap.hire)).to.equal("held");
  });

  it("drops an item if the contract will always refuse it", async () => {
    const person = await world.person();
    const { hire, signature } = await releaseOf(person);
    const signer = world.signerOf(person);
    await keeper.release(hire, signature);
    await keeper.refund(hire, person.address, await signer.refund(world.calls.idOf(hire)));
    await keeper.round();
    expect(["released", "refunded"]).to.include(await world.statusOf(hire));
    expect(await keeper.round()).to.deep.include({ released: 0, refunded: 0, waiting: 0, failed: [] });
    expect(
      said.some((line) => /^The escrow of an instruction is settled\. (released|refunded)$/.test(line)),
    ).to.equal(true);
    const other = await rejection(keeper.release(hire, signature));
    expect(other).to.include({ code: "call_refused", reason: "WrongStatus" });
  });

  it("loses no more gas to a wallet than its limit, even after a restart, and delays no other wallet", async () => {
    const liar = await world.wallet(LIES);
    const traps = [];
    for (let n = 0; n < 4; n++) traps.push((await world.heldBy(liar.address)).hire);
    for (const trap of traps) await keeper.release(trap, WORD);
    const honest = await world.heldBy((await world.wallet()).address);
    await keeper.release(honest.hire, WORD);
    expect(await keeper.round()).to.include({ released: 1 });
    const once = world.spent.gas;
    for (let n = 0; n < 3; n++) {
      at += DAY_MS;
      await keeper.close();
      keeper = open();
      await keeper.round();
    }
    expect(world.spent.gas, "nothing more in three days").to.equal(once);
    const more = (await world.heldBy(liar.address)).hire;
    const error = await rejection(keeper.release(more, WORD));
    expect(error).to.include({ code: "gas_limit", field: "hire.buyer" });
    const { hire, signature } = await releaseOf(await world.person());
    await keeper.release(hire, signature);
    expect(await keeper.round()).to.include({ released: 1 });
  });

  it("charges an account for a transaction without a known result, if the instruction then fails", async () => {
    const lostOf = async (wallet: string) =>
      ((await store.get(`gas/${wallet}.words`)) as { lost: number } | undefined)?.lost ?? 0;
    /** A keeper whose batch is mined, but that does not get the result. */
    const deaf = (): Keeper =>
      open({
        gasPerWallet: 2_000_000,
        calls: {
          ...world.calls,
          batch: async (items, gasEach = 0n) => {
            await world.calls.batch(items, gasEach);
            throw new Error("the connection is gone");
          },
        },
      });
    const hearing = () => open({ gasPerWallet: 2_000_000 });
    const losses = [];
    for (const isKilled of [false, true]) {
      await keeper.close();
      const liar = await world.wallet(LIES);
      const { hire } = await world.heldBy(liar.address);
      if (isKilled) {
        keeper = deaf();
        await keeper.release(hire, WORD);
        await keeper.round();
        await keeper.close();
        keeper = hearing();
      } else {
        keeper = hearing();
        await keeper.release(hire, WORD);
      }
      await keeper.round();
      losses.push(await lostOf(liar.address));
    }
    const [known, unknown] = losses as [number, number];
    expect(known).to.be.within(100_000, 150_000);
    expect(unknown - known, "the attempt without a result").to.be.within(100_000, 150_000);
    const honest = await world.wallet();
    const { hire } = await world.heldBy(honest.address);
    await keeper.close();
    keeper = deaf();
    await keeper.release(hire, WORD);
    await keeper.round();
    await keeper.round();
    expect(await world.statusOf(hire)).to.equal("released");
    expect(await lostOf(honest.address), "an instruction that was carried out").to.equal(0);
  });

  describe("when somebody else carries out an instruction first", () => {
    /** A wallet that burns nearly all gas and then says yes. */
    const BURNS_AND_SAYS_YES = "0x5b5a6200753010600057631626ba7e60e01b60005260206000f3";
    const lostOf = async (wallet: string) =>
      ((await store.get(`gas/${wallet}.words`)) as { lost: number } | undefined)?.lost ?? 0;
    /** Whether a loss of this wallet counts as a failure. */
    const hasFailed = async (wallet: string): Promise<boolean | undefined> =>
      ((await store.get(`gas/${wallet}.words`)) as { failed: boolean } | undefined)?.failed;
    /** A keeper after whose trials, and before whose first batch, this happens. */
    const openLate = async (happens: () => Promise<unknown>) => {
      await keeper.close();
      let happened: Promise<unknown> | undefined;
      keeper = open({
        calls: {
          ...world.calls,
          batch: async (items, gasEach) => {
            happened ??= happens();
            await happened;
            return await world.calls.batch(items, gasEach);
          },
        },
      });
    };

    it("charges an honest wallet for its own gas only, and serves it on, although a liar is in the same batch", async () => {
      const [liar, honest] = [await world.wallet(LIES), await world.wallet()];
      const trap = await world.heldBy(liar.address);
      const good = await world.heldBy(honest.address);
      const others = [];
      for (let n = 0; n < 6; n++) others.push(await world.heldBy((await world.wallet()).address));
      await openLate(() => world.strangers.release(good.hire, WORD));
      await keeper.release(trap.hire, WORD);
      await keeper.release(good.hire, WORD);
      for (const { hire } of others) await keeper.release(hire, WORD);
      expect(await keeper.round()).to.include({ released: others.length });
      expect(await world.statusOf(good.hire)).to.equal("released");
      expect(await lostOf(liar.address)).to.be.within(100_000, 150_000);
      expect(await lostOf(honest.address), "its check of the signature").to.be.below(50_000);
      expect(await hasFailed(honest.address)).to.equal(false);
      const next = await world.heldBy(honest.address);
      await keeper.close();
      keeper = open();
      await keeper.release(next.hire, WORD);
      await keeper.round();
      // The gas that was set aside for the earlier instruction is free again.
      at += 5_000;
      await keeper.round();
      expect(await world.statusOf(next.hire)).to.equal("released");
    });

    it("charges an honest wallet for its own gas only in a batch of many good items", async () => {
      const honest = await world.wallet();
      const good = await world.heldBy(honest.address);
      const others = [];
      for (let n = 0; n < 20; n++) others.push(await world.heldBy((await world.wallet()).address));
      await openLate(() => world.strangers.release(good.hire, WORD));
      for (const { hire } of [good, ...others]) await keeper.release(hire, WORD);
      expect(await keeper.round()).to.include({ released: others.length });
      expect(await lostOf(honest.address)).to.be.below(50_000);
      expect(await hasFailed(honest.address)).to.equal(false);
    });

    it("charges a liar for all its gas in a batch of many good items, also if its RPC has no older state", async () => {
      for (const hasState of [true, false]) {
        const liar = await world.wallet(LIES);
        const trap = await world.heldBy(liar.address);
        const others = [];
        for (let n = 0; n < 20; n++) others.push(await world.heldBy((await world.wallet()).address));
        await keeper.close();
        const gasOfBatch: typeof world.calls.gasOfBatch = async (...given) => {
          if (!hasState) throw new Error("missing trie node");
          return await world.calls.gasOfBatch(...given);
        };
        keeper = open({ calls: { ...world.calls, gasOfBatch } });
        for (const { hire } of [trap, ...others]) await keeper.release(hire, WORD);
        expect(await keeper.round()).to.include({ released: others.length });
        expect(await lostOf(liar.address), `state: ${hasState}`).to.be.within(100_000, 150_000);
      }
    });

    it("charges a wallet that burns gas before it is late, also beside an honest one", async () => {
      for (const hasCompany of [false, true]) {
        const [burner, honest] = [await world.wallet(), await world.wallet()];
        const one = await world.heldBy(burner.address);
        const good = await world.heldBy(honest.address);
        await openLate(async () => {
          await world.strangers.release(one.hire, WORD);
          if (hasCompany) await world.strangers.release(good.hire, WORD);
          await chain.client.setCode({ address: burner.address, bytecode: BURNS_AND_SAYS_YES });
        });
        await keeper.release(one.hire, WORD);
        if (hasCompany) await keeper.release(good.hire, WORD);
        await keeper.round();
        // Beside another late wallet nobody knows which of the two burned the gas, so both pay and none has failed.
        expect(await hasFailed(burner.address), `company: ${hasCompany}`).to.equal(!hasCompany);
        expect(await hasFailed(honest.address), `company: ${hasCompany}`).to.not.equal(true);
        const [lost, shared] = [await lostOf(burner.address), await lostOf(honest.address)];
        expect(lost + shared, `company: ${hasCompany}`).to.be.within(100_000, 160_000);
        expect(lost).to.be.at.least(hasCompany ? 50_000 : 100_000);
      }
    });
  });

  it("stops asking a wallet that said yes once and says no now", async () => {
    const wallet = await world.wallet();
    const { hire } = await world.heldBy(wallet.address);
    await keeper.release(hire, WORD);
    await world.feel(wallet.address, MOODS.burnsGas);
    let rounds = 0;
    for (let waiting = 1; waiting > 0 && rounds < 100; rounds++) {
      ({ waiting } = await keeper.round());
      at += 60_000;
    }
    expect(rounds).to.be.within(10, 60);
    expect(batches).to.deep.equal([]);
  });

  it("does not let an arbiter's or seller's wallet block the buyer's own refund", async () => {
    const person = await world.person();
    const liar = await world.wallet(LIES);
    const hire = await world.held(person, { arbiter: liar.address });
    const signature = await world.signerOf(person).refund(world.calls.idOf(hire));
    await keeper.refund(hire, person.address, signature);
    await keeper.refund(hire, liar.address, WORD);
    expect(await keeper.round()).to.include({ refunded: 1 });
    expect(await world.statusOf(hire)).to.equal("refunded");
  });

  it("refuses no honest request because of a stranger's wrong signature just before it", async () => {
    const person = await world.person();
    const hire = await world.hireOf(person.address);
    const right = await world.signerOf(person).authorizeDeposit(hire);
    const wrong = {
      ...right,
      signature: await world.signerOf(await world.person()).release(world.calls.idOf(hire)),
    };
    const [refused, deposited, same] = await Promise.allSettled([
      keeper.deposit(hire, wrong),
      keeper.deposit(hire, right),
      keeper.deposit(hire, right),
    ]);
    expect(refused).to.have.property("reason").that.includes({ code: "call_refused" });
    expect(deposited).to.have.property("value").that.is.a("string");
    expect(same).to.deep.equal(deposited);
    expect(batches).to.have.length(1);
  });

  it("charges no buyer for a deposit that could not be sent", async () => {
    const person = await world.person();
    const hire = await world.hireOf(person.address);
    const never = { code: "chain_unreachable", message: "away", neverSent: true };
    const { batch } = world.calls;
    world.calls.batch = () => Promise.reject(new ChainError(never));
    const authorization = await world.signerOf(person).authorizeDeposit(hire);
    try {
      for (let n = 0; n < 20; n++)
        expect(await rejection(keeper.deposit(hire, authorization))).to.include({
          code: "chain_unreachable",
        });
    } finally {
      world.calls.batch = batch;
    }
    expect(await store.keys("gas")).to.deep.equal([]);
    await keeper.deposit(hire, authorization);
    expect(await world.statusOf(hire)).to.equal("held");
  });

  it("sends a release again if a reorganisation undid it, and counts its fee once", async () => {
    const person = await world.person();
    const { hire, signature } = await releaseOf(person);
    await keeper.release(hire, signature);
    const fork = await chain.client.snapshot();
    expect(await keeper.round()).to.include({ released: 1, waiting: 0 });
    await chain.client.revert({ id: fork });
    expect(await world.statusOf(hire)).to.equal("held");
    // The next process must notice this too.
    await keeper.close();
    keeper = open();
    expect(await keeper.round(), "the provider may only be behind").to.include({ released: 0 });
    at += SURE_MS;
    expect(await keeper.round()).to.include({ released: 1 });
    expect(await world.statusOf(hire)).to.equal("released");
    expect(await store.get(`gas/${person.address}`)).to.include({ earned: HIRE_GAS });
    expect(await store.keys("release")).to.have.length(1);
    at += SURE_MS;
    expect(await keeper.round()).to.include({ released: 0 });
    expect(await store.keys("release")).to.deep.equal([]);
    expect(await store.get(`gas/${person.address}`)).to.include({ earned: HIRE_GAS });
  });

  it("carries out a wallet's newer signature if the older one fails while the newer one arrives", async () => {
    const wallet = await world.wallet();
    const { hire } = await world.heldBy(wallet.address);
    await keeper.close();
    const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const batch: typeof world.calls.batch = async (...given) => {
      asked.resolve();
      await goOn.promise;
      return await world.calls.batch(...given);
    };
    keeper = open({ calls: { ...world.calls, batch }, gasPerWallet: 500_000 });
    await keeper.release(hire, WORD);
    const round = keeper.round();
    await asked.promise;
    await keeper.release(hire, `0x${"5b".repeat(65)}`);
    await world.feel(wallet.address, MOODS.saysNo);
    goOn.resolve();
    expect(await round).to.include({ released: 0, waiting: 1 });
    await world.feel(wallet.address, 0);
    // The next process reads it from the disk.
    await keeper.close();
    keeper = open({ gasPerWallet: 500_000 });
    expect(await keeper.round()).to.include({ released: 1 });
    expect(await world.statusOf(hire)).to.equal("released");
  });

  it("has the same gas limit for a contract wallet after any number of its releases", async () => {
    // Without a fee no release can pay back the gas that it used.
    await keeper.close();
    keeper = open({ worth: { minAmount: 10_000n } });
    const wallet = await world.wallet();
    for (let n = 0; n < 3; n++) {
      const { hire } = await world.heldBy(wallet.address);
      await keeper.release(hire, WORD);
      expect(await keeper.round()).to.include({ released: 1 });
      at += SURE_MS;
      await keeper.round();
      expect(await store.keys("release"), "it was checked a second time").to.deep.equal([]);
    }
  });

  it("stops paying gas for a buyer whose deposits always come back without a fee", async () => {
    const person = await world.person(30);
    const signer = world.signerOf(person);
    let deposits = 0;
    let error: unknown;
    for (; deposits < 30; deposits++) {
      const hire = await world.hireOf(person.address);
      error = await keeper.deposit(hire, await signer.authorizeDeposit(hire)).then(
        () => undefined,
        (it) => it,
      );
      if (error) break;
      await keeper.refund(hire, person.address, await signer.refund(world.calls.idOf(hire)));
      await keeper.round();
    }
    expect(deposits).to.be.within(3, 15);
    expect(error).to.include({ code: "gas_limit", field: "hire.buyer" });
    // The keeper still relays another buyer's deposits. A buyer that pays fees may go on.
    const payer = await world.person(40);
    for (let n = 0; n < 20; n++) {
      const hire = await world.hireOf(payer.address);
      await keeper.deposit(hire, await world.signerOf(payer).authorizeDeposit(hire));
      await keeper.release(hire, await world.signerOf(payer).release(world.calls.idOf(hire)));
      await keeper.round();
    }
    // The first buyer's money always comes back. So this buyer could do the same every day.
    at += 29 * DAY_MS;
    const hire = await world.hireOf(person.address);
    const authorization = await signer.authorizeDeposit(hire);
    expect(await rejection(keeper.deposit(hire, authorization))).to.include({ code: "gas_limit" });
    at += 2 * DAY_MS;
    await keeper.deposit(hire, authorization);
  });

  it("loses no more gas to a seller's wallet than its limit, in any number of hires", async () => {
    const liar = await world.wallet(LIES);
    const person = await world.person();
    const hires = [];
    for (let n = 0; n < 5; n++) hires.push(await world.held(person, { seller: liar.address }));
    const before = world.spent.gas;
    const codes: unknown[] = [];
    for (const hire of hires) {
      const error = await rejection(keeper.markDelivered(hire, `0x${"00".repeat(32)}`, WORD));
      codes.push(Reflect.get(Object(error), "code"));
    }
    expect(codes[0]).to.equal("call_refused");
    expect(codes.at(-1)).to.equal("gas_limit");
    expect(world.spent.gas - before).to.be.lessThan(200_000);
  });

  describe("over HTTP", () => {
    let app: Hono;
    beforeEach(() => {
      app = keeperApp({ calls: world.calls, keeper, waitMs: 0 });
    });
    const post = async (route: string, body: object) => {
      const response = await app.request(route, { method: "POST", body: JSON.stringify(body) });
      expect(response.headers.get("content-type")).to.contain("problem+json");
      const { status, code, errors } = await response.json();
      expect(status).to.equal(response.status);
      return { status, code, field: errors?.[0].field, retryAfter: response.headers.get("retry-after") };
    };

    it("names the wrong field if a hire is not worth its gas", async () => {
      const person = await world.person();
      const least = 10_000n;
      const wrong = [
        [{ amount: least - 1n, fee: 1_000n }, "amount_too_small", "hire.amount"],
        [{ fee: 0n }, "fee_missing", "hire.fee"],
        [{ fee: 4_999n }, "fee_missing", "hire.fee"],
        [{ feeRecipient: person.address }, "fee_missing", "hire.fee_recipient"],
        [{ fee: 0n, feeRecipient: ZERO_ADDRESS }, "fee_missing", "hire.fee_recipient"],
      ] as const;
      for (const [changes, code, field] of wrong) {
        const hire = await world.held(person, changes);
        const about = {
          hire: toHireJson(hire),
          signature: await world.signerOf(person).release(world.calls.idOf(hire)),
        };
        for (const [route, rest] of [
          ["/release", {}],
          ["/refund", { signer: person.address }],
          ["/delivered", {}],
          ["/deposit", { valid_before: "9" }],
        ] as const) {
          expect(await post(route, { ...about, ...rest }), route).to.include({ status: 403, code, field });
        }
      }
      expect(await store.keys("release")).to.deep.equal([]);
    });

    it("refuses an empty signature, which would stand for the keeper's own, and an overlong signature", async () => {
      const hire = toHireJson(await world.hireOf(world.treasury.address));
      for (const signature of ["0x", `0x${"ab".repeat(2_049)}`]) {
        for (const route of ["/release", "/refund", "/delivered", "/deposit"]) {
          const body = { hire, signature, signer: world.treasury.address, valid_before: "9" };
          expect(await post(route, body), route).to.include({ status: 400, field: "signature" });
        }
      }
    });

    it("answers 429 with a waiting time to a wallet that has cost too much gas", async () => {
      const liar = await world.wallet(LIES);
      const { hire } = await world.heldBy(liar.address);
      await keeper.release(hire, WORD);
      await keeper.round();
      const again = await world.heldBy(liar.address);
      expect(await post("/release", { hire: toHireJson(again.hire), signature: WORD })).to.deep.equal({
        status: 429,
        code: "gas_limit",
        field: "hire.buyer",
        retryAfter: String(30 * 86_400),
      });
    });
  });

  it("carries out every honest instruction under attack, and the attackers pay more than the keeper", async () => {
    const counts = await soakKeeper({ rounds: 3, newcomers: 10, honest: 2, chain });
    expect(counts.violations, "npm run soak:keeper").to.deep.equal([]);
    expect(counts).to.include({ rounds: 3, released: 15, refunded: 10, timedOut: 10, hostileWallets: 30 });
    const cost = counts.hostileGas.reduce((sum, gas) => sum + gas, 0);
    expect(cost).to.be.within(1, counts.hostileOutlay);
    // A wallet costs the keeper gas only once. So each round costs only the gas for its new wallets.
    const [first = 0] = counts.hostileGas;
    for (const gas of counts.hostileGas) expect(gas).to.be.lessThan(1.1 * first);
  });
});
