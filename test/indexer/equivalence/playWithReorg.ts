import type { World } from "./openWorld.ts";
import { copyOf, type RealizedLog } from "./realizedLog.ts";

/** The number of blocks of a generated log that a reorg removes. */
export const UNDONE = 3;

/** What happens while a log is played. */
export type PlayWithReorgParameters = {
  /**
   * Called after each block of the log, with its number. It is called twice for the undone blocks, except for the first
   * of them.
   */
  onBlock?: (n: number) => void;
  /** Called before the blocks that will be undone. */
  beforeReorg?: () => Promise<void>;
  /** Waits until the nodes have seen the block that will be undone. */
  untilSeen: (orphaned: bigint) => Promise<void>;
};

/**
 * Plays a log on a chain, with a reorg in its middle, and then mines up to a tick. The events of the first undone block
 * never happen again. The events of the other undone blocks happen again at other positions.
 *
 * @returns the block of the tick
 */
export async function playWithReorg(
  { chain, followed, mineToTick, register }: Pick<World, "chain" | "followed" | "mineToTick" | "register">,
  log: RealizedLog,
  { onBlock = () => {}, beforeReorg, untilSeen }: PlayWithReorgParameters,
): Promise<bigint> {
  await log.prepare();
  const realize = async (n: number) => {
    await log.realize(n);
    onBlock(n);
  };
  const middle = Math.floor(log.groups.length / 2);
  for (let n = 0; n < middle; n++) await realize(n);

  await beforeReorg?.();
  const kept = copyOf(log.progress);
  const id = await chain.client.snapshot();
  log.progress.time = await register("undone");
  for (let n = middle; n < middle + UNDONE; n++) await realize(n);
  await chain.mine();
  const orphaned = await chain.client.getBlockNumber();
  await untilSeen(orphaned);
  await chain.client.revert({ id });
  for (const [n, ledger] of kept.ledgers.entries()) await followed[n]?.publish(ledger);
  log.progress = kept;

  for (let n = middle + 1; n < log.groups.length; n++) await realize(n);
  log.progress.time = await register("instead");
  while ((await chain.client.getBlockNumber()) <= orphaned) await chain.mine();
  log.progress.time = await mineToTick();
  return chain.client.getBlockNumber();
}
