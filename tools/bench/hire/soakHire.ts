import { setTimeout as sleep } from "node:timers/promises";
import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from "@x402/core/http";
import { parseUsdc } from "tallystick-protocol/amount";
import { escrowFee } from "tallystick-protocol/escrow/feeSchedule";
import type { Listing } from "tallystick-protocol/records/listing";
import { parseListing } from "tallystick-protocol/records/listing";
import { createBuyer } from "tallystick-sdk/createBuyer";
import { createSeller, type Seller } from "tallystick-sdk/createSeller";
import { HireFailedError, type MoneyState } from "tallystick-sdk/errors";
import { createKeeper } from "tallystick-sdk/escrow/keeper";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import { findPaymentOnChain } from "tallystick-sdk/seller/findPayment";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { type App, ESCROW_MODE, type HireWorld, MEAN, mean, NODE_URL, openHireWorld } from "./hireWorld.ts";
import { newWallet, type Wallet } from "./sdkChain.ts";

const PRICE = parseUsdc("0.50");
const PURSE = parseUsdc("2.00");
/** How long one hire may take before the soak says that it hangs. */
const HIRE_MS = 60_000;

/** What may go wrong with one hire. */
const FAULTS = [
  "none",
  "none",
  "none",
  "wrong result",
  "work throws",
  "work hangs",
  "asks for more",
  "wants another payee",
  "answers garbage",
  "answer lost",
  "refused after payment",
  "request sent twice",
  "buyer crashes",
  "seller crashes",
  "buyer without money",
] as const;
export type Fault = (typeof FAULTS)[number];

export type SoakParameters = {
  hires: number;
  /** The same seed gives the same run. */
  seed: number;
  onHire?: (done: number) => void;
  /** Ends the run after the present hire. The results until then are checked and counted. */
  signal?: AbortSignal;
};

/** What a soak saw. Money in atomic units. */
export type SoakCounts = {
  hires: number;
  byFault: { [fault: string]: number };
  byMoney: { [money: string]: number };
  paid: bigint;
  refunds: number;
  timeouts: number;
  /** Hires whose money is not where the buyer's error or result says, or that created or lost a unit. */
  violations: string[];
};

/**
 * Random hires, by direct payment and by escrow, with faults injected, one after the other on one chain. After every
 * hire the balances of its buyer and its seller must be as the buyer's result or error says. At the end every deadline
 * has passed. Then the escrow may hold no unit. Every buyer must have paid the whole price or nothing, as its seller's
 * balance shows. The sum of all balances must be what was minted.
 */
export async function soakHires({ hires, seed, onHire, signal }: SoakParameters): Promise<SoakCounts> {
  const world = await openHireWorld();
  const random = mulberry32(seed);
  const counts: SoakCounts = {
    hires: 0,
    byFault: {},
    byMoney: {},
    paid: 0n,
    refunds: 0,
    timeouts: 0,
    violations: [],
  };
  const scenes: (Scene & { number: number; fault: Fault })[] = [];
  try {
    for (let number = 0; number < hires && !signal?.aborted; number++) {
      const fault = FAULTS[Math.floor(random() * FAULTS.length)] as Fault;
      const isEscrow = random() < 0.5;
      const crashAfter = Math.floor(random() * 8);
      const name = `hire ${number} (${fault}, ${isEscrow ? "escrow" : "direct"})`;
      const scene = await endsIn(HIRE_MS, name, oneHire(world, { number, fault, isEscrow, crashAfter }));
      const violation = await checkHire(world, scene);
      if (violation) counts.violations.push(`${name}: ${violation}`);
      scenes.push({ ...scene, number, fault });
      counts.hires++;
      counts.byFault[fault] = (counts.byFault[fault] ?? 0) + 1;
      counts.byMoney[scene.money] = (counts.byMoney[scene.money] ?? 0) + 1;
      if (scene.money === "refunded") counts.refunds++;
      onHire?.(number + 1);
    }
    counts.timeouts = await letDeadlinesPass(world);
    let sum = (await world.balanceOf(world.treasury)) + (await world.balanceOf(elsewhere));
    for (const { buyer, seller, fee, purse, number, fault } of scenes) {
      const spent = purse - (await world.balanceOf(buyer));
      const earned = await world.balanceOf(seller);
      const isWhole = (spent === 0n && earned === 0n) || (spent === PRICE && earned === PRICE - fee);
      if (!isWhole) counts.violations.push(`hire ${number} (${fault}): spent ${spent}, earned ${earned}`);
      counts.paid += spent;
      sum += purse - spent + earned;
    }
    const held = await world.balanceOf({ address: world.chain.escrow });
    if (held !== 0n) counts.violations.push(`the escrow still holds ${held}`);
    const minted = PURSE * BigInt(counts.hires);
    if (sum !== minted) counts.violations.push(`${minted - sum} units are missing in the end`);
    return counts;
  } finally {
    await world.close();
  }
}

type Scene = {
  buyer: Wallet;
  seller: Wallet;
  fee: bigint;
  money: MoneyState | "released";
  /** The balance before the run. */
  purse: bigint;
};

/** The wallet that gets the money of buyers "without money". */
const elsewhere = newWallet();

async function oneHire(
  world: HireWorld,
  plan: { number: number; fault: Fault; isEscrow: boolean; crashAfter: number },
): Promise<Scene> {
  const { chain, relay, treasury, fetch } = world;
  const { number, fault, isEscrow, crashAfter } = plan;
  const [buyerWallet, sellerWallet] = [newWallet(), newWallet()];
  await chain.mint(buyerWallet, PURSE);
  const fee = isEscrow ? escrowFee(PRICE) : 0n;
  const host = `seller${number}.test`;
  const paymentMode = isEscrow ? ESCROW_MODE : "direct";
  const store = memoryStore();

  const open = async (over: KeyValueStore, isSound: boolean): Promise<Seller> =>
    await createSeller({
      account: sellerWallet.account,
      endpoint: `http://${host}`,
      baseUrl: NODE_URL,
      network: chain.network,
      facilitator: chain.facilitator,
      findPayment: findPaymentOnChain(chain.client as never, chain.network),
      store: over,
      modes: {
        [ESCROW_MODE]: escrowMode({
          account: sellerWallet.account,
          network: chain.network,
          escrow: chain.escrow,
          relay,
          feeRecipient: treasury.address,
        }),
      },
      listings: [
        {
          capability: MEAN,
          price_usdc: "0.50",
          max_latency_ms: fault === "work hangs" ? 60 : 3_000,
          payment_mode: paymentMode,
        },
      ],
      handlers: { [MEAN]: (params) => workOf(isSound ? "none" : fault, params) },
      receiptWaitMs: 500,
      devMode: true,
      fetch,
    });
  const mortal = fault === "seller crashes" ? diesAfter(store, crashAfter) : store;
  const seller = await open(mortal, false);
  world.hosts.set(host, betweenThem(seller.app, fault));
  const listing = parseListing(seller.listings[0]?.body ?? {});

  const journal = memoryStore();
  const openBuyer = () =>
    createBuyer({
      account: buyerWallet.account,
      baseUrl: NODE_URL,
      network: chain.network,
      ledger: "local",
      escrows: { [ESCROW_MODE]: { escrow: chain.escrow, relay, feeRecipient: treasury.address } },
      client: chain.client as never,
      journal,
      devMode: true,
      fetch,
    });
  let purse = PURSE;
  if (fault === "buyer without money") {
    await chain.transfer(buyerWallet, elsewhere, PURSE - 1n);
    purse = 1n;
  }
  const crash = new AbortController();
  if (fault === "buyer crashes") world.hosts.set(host, abortsWhenPaid(seller.app, crash));
  if (fault === "seller crashes") takeOver(world, host, mortal, () => open(store, true));
  let money = await moneyOf(openBuyer().hire(order(listing, crash.signal)));
  if (fault === "buyer crashes") {
    world.hosts.set(host, seller.app as unknown as App);
    const [resumed] = await openBuyer().resume();
    money = resumed === undefined ? money : "hire" in resumed ? resumed.hire.money : money;
  }
  if (fault !== "seller crashes") await seller.close();
  return { buyer: buyerWallet, seller: sellerWallet, fee, money, purse };
}

function order(listing: Listing, signal: AbortSignal) {
  return {
    capability: MEAN,
    params: { data: [1, 2, 6] },
    maxPriceUsdc: "1.00",
    maxLatencyMs: 5_000,
    listing,
    signal,
  };
}

/** Fails with the name of the work that does not end in time, so that a hanging soak says where it hangs. */
async function endsIn<T>(ms: number, name: string, work: Promise<T>): Promise<T> {
  const late = new AbortController();
  const timedOut = sleep(ms, undefined, { signal: late.signal }).then(() => {
    throw new Error(`${name} does not end`);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    late.abort();
    await timedOut.catch(() => {});
  }
}

/** Where the money is, as the buyer's result or error says. */
async function moneyOf(hire: Promise<{ money: MoneyState | "released" }>): Promise<MoneyState | "released"> {
  try {
    return (await hire).money;
  } catch (error) {
    if (error instanceof HireFailedError) return error.money;
    // After a crash the buyer knows nothing. All other errors come before anything is signed.
    return (error as Error).name === "AbortError" ? "authorized" : "none";
  }
}

async function checkHire(
  world: HireWorld,
  { buyer, seller, money, purse, fee }: Scene,
): Promise<string | undefined> {
  const spent = purse - (await world.balanceOf(buyer));
  const earned = await world.balanceOf(seller);
  const isPaid = spent === PRICE && earned === PRICE - fee;
  const isHeld = spent === PRICE && earned === 0n;
  const isBack = spent === 0n && earned === 0n;
  const told = {
    paid: isPaid,
    released: isPaid,
    none: isBack,
    refunded: isBack,
    held: isHeld,
    authorized: true,
  }[money];
  if (!told) return `told "${money}", but spent ${spent} and earned ${earned}`;
  return isPaid || isHeld || isBack ? undefined : `spent ${spent}, earned ${earned}`;
}

async function letDeadlinesPass(world: HireWorld): Promise<number> {
  const { chain, calls } = world;
  await chain.passTo((await chain.now()) + 3_600);
  const keeper = createKeeper({ calls, store: memoryStore() });
  const { timedOut } = await keeper.round();
  await keeper.close();
  return timedOut;
}

function workOf(
  fault: Fault,
  params: { [key: string]: unknown },
): { result: number } | Promise<{ result: number }> {
  if (fault === "wrong result") return { result: 1e9 };
  if (fault === "work throws") throw new Error("the work failed");
  if (fault === "work hangs") return new Promise(() => {});
  return mean(params);
}

/** The connection between buyer and seller, with a fault. */
function betweenThem(app: Seller["app"], fault: Fault): App {
  return {
    request: async (input, init) => {
      const isPaid = isPayment(init);
      if (fault === "request sent twice" && isPaid) await app.request(input, init);
      const response = await app.request(input, init);
      if (response.status === 402 && fault === "asks for more") {
        return withTerms(response, (option) => ({ ...option, amount: String(BigInt(option.amount) + 1n) }));
      }
      if (response.status === 402 && fault === "wants another payee") {
        return withTerms(response, (option) => ({ ...option, payTo: elsewhere.address }));
      }
      if (!isPaid) return response;
      if (fault === "answers garbage") return new Response("<html>", { status: 200 });
      if (fault === "answer lost") throw new TypeError("socket hang up");
      if (fault === "refused after payment") return Response.json({ code: "sorry" }, { status: 500 });
      return response;
    },
  };
}

/** Aborts the buyer when its payment has reached the seller, as a crash would. */
function abortsWhenPaid(app: Seller["app"], crash: AbortController): App {
  return {
    request: async (input, init) => {
      const response = await app.request(input, { ...init, signal: null });
      if (isPayment(init)) crash.abort();
      return response;
    },
  };
}

/**
 * A store whose process is killed after a number of changes. The store does not make the next change, and answers
 * nothing from then on. Until then it answers reads, so a process that may make no change still starts.
 */
function diesAfter(store: KeyValueStore, changes: number): KeyValueStore & { isDead: () => boolean } {
  let left = changes;
  let isDead = false;
  const read = async <T>(work: () => Promise<T>): Promise<T> =>
    isDead ? new Promise<T>(() => {}) : await work();
  const change = async <T>(work: () => Promise<T>): Promise<T> => {
    isDead ||= left-- <= 0;
    return await read(work);
  };
  return {
    isDead: () => isDead,
    get: (key) => read(() => store.get(key)),
    keys: (folder) => read(() => store.keys(folder)),
    put: (key, value) => change(() => store.put(key, value)),
    putNew: (key, value) => change(() => store.putNew(key, value)),
    delete: (key) => change(() => store.delete(key)),
  };
}

/** After the first process has died, its connections break, and another process continues on the same store. */
function takeOver(world: HireWorld, host: string, mortal: KeyValueStore, open: () => Promise<Seller>): void {
  const first = world.hosts.get(host) as App;
  const isDead = (mortal as KeyValueStore & { isDead: () => boolean }).isDead;
  let second: Promise<Seller> | undefined;
  const resumed = async (): Promise<Seller> => {
    const seller = await open();
    await seller.resume();
    return seller;
  };
  world.hosts.set(host, {
    request: async (input, init) => {
      if (second) return (await second).app.request(input, init);
      let isAnswered = false;
      const died = async (): Promise<Response> => {
        while (!isDead() && !isAnswered) await sleep(5);
        if (isAnswered) return Response.error();
        // Requests that the process had sent may still arrive. Their answers are lost.
        await sleep(30);
        second ??= resumed();
        await second;
        throw new TypeError("socket hang up");
      };
      try {
        return await Promise.race([first.request(input, init), died()]);
      } finally {
        isAnswered = true;
      }
    },
  });
}

type Option = ReturnType<typeof decodePaymentRequiredHeader>["accepts"][number];

function withTerms(response: Response, change: (option: Option) => Option): Response {
  const required = decodePaymentRequiredHeader(response.headers.get("PAYMENT-REQUIRED") ?? "");
  const headers = new Headers(response.headers);
  const changed = { ...required, accepts: required.accepts.map(change) };
  headers.set("PAYMENT-REQUIRED", encodePaymentRequiredHeader(changed));
  return new Response(null, { status: 402, headers });
}

function isPayment(init?: RequestInit): boolean {
  return new Headers(init?.headers).has("PAYMENT-SIGNATURE");
}

/** A small generator of random numbers from 0 to 1, the same for the same seed. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
