import type { Hire } from "tallystick-protocol/escrow/hire";
import { RelayRefusedError } from "tallystick-sdk/errors";
import { createKeeper, type KeeperRound } from "tallystick-sdk/escrow/keeper";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import type { SdkChain } from "../hire/sdkChain.ts";
import { MOODS, ONLY_ON_CHAIN } from "./hostileWallet.ts";
import { type KeeperWorld, openKeeperWorld, WORD } from "./keeperWorld.ts";

export type SoakKeeperParameters = {
  /** Rounds with hostile wallets. Two rounds without them come first, to measure what honest work costs. */
  rounds: number;
  /** New hostile wallets in each round. The hostile wallets of earlier rounds continue too. */
  newcomers: number;
  /** The number of honest releases in each round. There are as many refunds, and as many timeouts. */
  honest: number;
  /** Days between two rounds. The keeper forgets a wallet's losses after some time. Default 1. */
  days?: number;
  /** A chain that exists already. Default: a new one. */
  chain?: SdkChain;
  onRound?: (number: number, gas: number) => void;
  signal?: AbortSignal;
};

/** The results of a soak. `honestGas`, `hostileGas` and `hostileOutlay` are gas, and the other fields count. */
export type KeeperSoakCounts = {
  rounds: number;
  released: number;
  refunded: number;
  timedOut: number;
  hostileWallets: number;
  hostileWords: number;
  /** Instructions of hostile wallets that the keeper refused before it sent anything. */
  hostileRefused: number;
  /** The cost of a round's honest work. */
  honestGas: number;
  /** The keeper's costs for hostile wallets in each round. */
  hostileGas: number[];
  /**
   * What the hostile wallets paid themselves: code, balance and deposits, without the 21,000 of each
   * transaction.
   */
  hostileOutlay: number;
  /** Honest instructions that a round did not carry out. */
  violations: string[];
};

/** The behaviours of hostile wallets on the chain: everything except accepting. */
const HOSTILE = Object.values(MOODS)
  .filter((mood) => mood !== MOODS.saysYes)
  .flatMap((mood) => [mood + ONLY_ON_CHAIN, mood]);

/**
 * Runs rounds of a keeper on a real chain. Each round has honest work of every kind, and hostile wallets that
 * send all their instructions again and again. Some of these wallets accept every `eth_call`, and not the transaction. Others
 * change their behaviour after the keeper has accepted an instruction. The keeper must carry out every honest instruction
 * in its own round.
 */
export async function soakKeeper(parameters: SoakKeeperParameters): Promise<KeeperSoakCounts> {
  const { rounds, newcomers, honest, days = 1, chain, onRound, signal } = parameters;
  const world = await openKeeperWorld(chain);
  const { calls, spent } = world;
  let now = Date.now();
  const keeper = createKeeper({ calls, store: memoryStore(), worth: world.worth, now: () => now });
  const counts: KeeperSoakCounts = {
    rounds: 0,
    released: 0,
    refunded: 0,
    timedOut: 0,
    hostileWallets: 0,
    hostileWords: 0,
    hostileRefused: 0,
    honestGas: 0,
    hostileGas: [],
    hostileOutlay: 0,
    violations: [],
  };
  const hostile: Hire[] = [];

  async function word(hire: Hire, isRefund: boolean): Promise<void> {
    counts.hostileWords++;
    const sent = isRefund ? keeper.refund(hire, hire.buyer, WORD) : keeper.release(hire, WORD);
    await sent.catch((error: unknown) => {
      if (!(error instanceof RelayRefusedError) && !/call_refused/.test(String(Object(error).code)))
        throw error;
      counts.hostileRefused++;
    });
  }

  async function attack(): Promise<void> {
    for (const [at, hire] of hostile.entries()) await word(hire, at % 4 === 3);
    for (let n = 0; n < newcomers; n++) {
      const mood = HOSTILE[counts.hostileWallets++ % HOSTILE.length] as number;
      const wallet = await world.wallet(mood >= ONLY_ON_CHAIN ? mood : 0);
      const { hire, gas } = await world.heldBy(wallet.address);
      counts.hostileOutlay += wallet.gas + gas;
      hostile.push(hire);
      await word(hire, hostile.length % 4 === 0);
      if (mood < ONLY_ON_CHAIN) await world.feel(wallet.address, mood);
    }
  }

  try {
    for (let number = -2; number < rounds && !signal?.aborted; number++) {
      const before = spent.gas;
      const plans = await honestWork(world, honest);
      if (number >= 0) await attack();
      for (const { bring } of plans) await bring(keeper);
      const seen = await keeper.round();
      await checkRound(world, number, plans, seen, counts.violations);
      counts.released += seen.released;
      counts.refunded += seen.refunded;
      counts.timedOut += seen.timedOut;
      // A second round carries out the instructions that wait for another try.
      now += 10_000;
      await keeper.round();
      now += days * 86_400_000;
      const gas = spent.gas - before;
      if (number < 0) counts.honestGas = gas;
      else {
        counts.rounds++;
        counts.hostileGas.push(gas - counts.honestGas);
        onRound?.(number + 1, gas - counts.honestGas);
      }
    }
    return counts;
  } finally {
    await keeper.close();
    await world.close();
  }
}

type Plan = { hire: Hire; status: string; bring: (keeper: ReturnType<typeof createKeeper>) => Promise<void> };

/** Releases by a key and by an honest contract wallet, refunds, and hires past their deadline. */
async function honestWork(world: KeeperWorld, count: number): Promise<Plan[]> {
  const plans: Plan[] = [];
  const soon = BigInt((await world.chain.now()) + 5_000);
  for (let n = 0; n < count; n++) {
    const buyer = await world.person();
    const released = await world.held(buyer);
    const signature = await world.signerOf(buyer).release(world.calls.idOf(released));
    plans.push({
      hire: released,
      status: "released",
      bring: (keeper) => keeper.release(released, signature),
    });
    const refunded = await world.held(buyer);
    const no = await world.signerOf(buyer).refund(world.calls.idOf(refunded));
    plans.push({
      hire: refunded,
      status: "refunded",
      bring: (keeper) => keeper.refund(refunded, buyer.address, no),
    });
    const late = await world.held(buyer, { deadline: soon });
    plans.push({ hire: late, status: "timedOut", bring: async () => {} });
  }
  const wallet = await world.wallet();
  const { hire } = await world.heldBy(wallet.address);
  plans.push({ hire, status: "released", bring: (keeper) => keeper.release(hire, WORD) });
  await world.chain.passTo(Number(soon));
  return plans;
}

async function checkRound(
  world: KeeperWorld,
  number: number,
  plans: readonly Plan[],
  { failed }: KeeperRound,
  violations: string[],
): Promise<void> {
  for (const part of failed) violations.push(`round ${number}: ${part} failed`);
  for (const { hire, status } of plans) {
    const is = await world.statusOf(hire);
    if (is !== status) violations.push(`round ${number}: an escrow is ${is}, not ${status}`);
  }
}
