import { seededRandom } from "tallystick-runtime/seededRandom";
import { ledgerChain, WRITER_KEY } from "../ledger/ledgerChain.ts";
import { type CrashChain, type CrashFlow, crashAtEveryWrite } from "./crashAtEveryWrite.ts";
import { crashChain } from "./crashChain.ts";
import { anchoredFlow, heldFlow, outcomesFlow, randomFlow, verdictFlow } from "./crashFlows.ts";

export type SoakCrashParameters = {
  /** How many random flows follow the fixed ones. Every second random flow is anchored. */
  flows: number;
  /** The seed of the first random flow. Each later flow has the next number. */
  seed: number;
  /** Called before every flow. If it returns true, no further flow is played. */
  isOver: () => boolean;
  onFlow: (sentence: string) => void;
};

/**
 * Plays every ending of every flow.
 *
 * @throws TallystickError `crash_test_failed` naming the flow (a random flow by its seed) and the write
 */
export async function soakCrash({ flows, seed, isOver, onFlow }: SoakCrashParameters) {
  const chain = await ledgerChain();
  const sums = { flows: 0, writes: 0, endings: 0 };
  /** The chain for one flow. Each flow has a ledger of its own on the chain. */
  const anchors = (name: string): CrashChain =>
    crashChain(chain, { relayerKey: WRITER_KEY, origin: `tallystick.test/crash-${name}` });
  const see = async (flow: CrashFlow): Promise<void> => {
    if (isOver()) return;
    const { writes, seen } = await crashAtEveryWrite(flow);
    sums.flows++;
    sums.writes += writes;
    sums.endings += seen;
    onFlow(`${flow.name}: ${writes} writes, ${seen} endings`);
  };
  try {
    for (const flow of [heldFlow, verdictFlow, outcomesFlow, anchoredFlow(anchors("fixed"))]) await see(flow);
    for (let number = seed; number < seed + flows; number++) {
      const name = `seed ${number}`;
      await see(
        randomFlow(name, seededRandom(number), number % 2 === 0 ? anchors(String(number)) : undefined),
      );
    }
  } finally {
    await chain.close();
  }
  return sums;
}
