import { chunksOf } from "./keeperBatches.ts";

/** The most simultaneous requests to the chain. */
export const AT_ONCE = 16;

/** How a part of a round works through its items. */
export type Turn<Item> = {
  signal: AbortSignal;
  /** The most items that are sent together. */
  most: number;
  /** Reads a few items from the chain, and returns those that can be sent now. An error ends the part. */
  look: (items: Item[]) => Promise<Item[]>;
  send: (items: Item[]) => Promise<void>;
};

/**
 * Works through the items of one part of a keeper's rounds. A round has limited time, and strangers can make many
 * items. So items that can be sent are sent before more items are read. The item with the oldest last look comes first.
 */
export function createTurns<Item extends { key: string }>() {
  /** The number of the last look at each item. */
  let lastLooks = new Map<string, number>();
  let looks = 0;
  const lastLook = ({ key }: Item): number => lastLooks.get(key) ?? 0;

  return async function work(items: readonly Item[], { signal, most, look, send }: Turn<Item>) {
    lastLooks = new Map(items.map((it) => [it.key, lastLook(it)]));
    const ready: Item[] = [];
    let hasSent = false;
    const sendReady = async (least: number): Promise<void> => {
      while (ready.length >= least && !signal.aborted) {
        hasSent = true;
        await send(ready.splice(0, most));
      }
    };
    const fault = await lookAtAll().catch((error: unknown) => ({ error }));
    await sendReady(1);
    // What the round has no time to send comes first in the next round.
    for (const { key } of ready) lastLooks.set(key, 0);
    if (fault) throw fault.error;

    async function lookAtAll(): Promise<void> {
      const inTurn = items.toSorted((a, b) => lastLook(a) - lastLook(b));
      for (const chunk of chunksOf(inTurn, AT_ONCE)) {
        if (signal.aborted) return;
        for (const { key } of chunk) lastLooks.set(key, ++looks);
        ready.push(...(await look(chunk)));
        // The first batch does not wait until it is full. So a round sends something even if the RPC is very slow.
        await sendReady(hasSent ? most : 1);
      }
    }
  };
}

/**
 * Reads something about each item, all at once. An item whose read fails is left out, and its error is added to the
 * faults. If every read fails, the RPC does not answer at all, and the first error is thrown.
 */
export async function readEach<Item, Answer>(
  items: readonly Item[],
  read: (item: Item) => Promise<Answer>,
  faults: unknown[],
): Promise<[Item, Answer][]> {
  const answers = await Promise.allSettled(items.map(async (it) => await read(it)));
  const good: [Item, Answer][] = [];
  const failed: unknown[] = [];
  for (const [at, it] of items.entries()) {
    const answer = answers[at];
    if (answer?.status === "fulfilled") good.push([it, answer.value]);
    else failed.push(answer?.reason);
  }
  if (failed.length > 0 && good.length === 0) throw failed[0];
  faults.push(...failed);
  return good;
}
