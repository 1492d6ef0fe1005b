import { drawNumber } from "tallystick-derive/audits/drawnPlaces";
import { queuedHires } from "tallystick-derive/audits/queues";
import type { Row } from "tallystick-derive/tables";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import type { AuditChain } from "./auditChain.ts";
import type { DerivedLog, LogTick } from "./derivedLog.ts";
import type { Findings } from "./findings.ts";

const MILLION = 1_000_000n;

/** The most ticks that are checked. No hire waits that many ticks for its draw. */
const MAX_TICKS = 1_000;

/**
 * Checks that ticks are at the blocks where ticks are due, that their hashes are those of the chain, and that none is
 * left out. A node that chooses the block of a tick, or leaves a tick out, chooses the hash of the draw.
 *
 * @param since the block after which none of the `blocks` may lack an earlier tick, also at the log's beginning
 */
export async function checkTicks(
  log: Pick<DerivedLog, "ticks" | "params">,
  { blocks, since }: { blocks: number[]; since: number },
  chain: Pick<AuditChain, "blockHash">,
  found: Findings,
) {
  const distance = log.params.tickBlocks;
  const index = new Map(log.ticks.map(({ block }, n) => [block, n]));
  const wanted = [...new Set(blocks)].sort((a, b) => a - b);
  const misplaced = new Set<number>();
  if (wanted.length > MAX_TICKS)
    found.unchecked.push(`${wanted.length - MAX_TICKS} of ${wanted.length} ticks were not compared.`);
  for (const block of wanted.slice(0, MAX_TICKS)) {
    const n = index.get(block) ?? -1;
    const tick = log.ticks[n];
    const hash = await chain.blockHash(block);
    found.check(
      tick?.hash === hash,
      `The tick of block ${block} has that block's hash, ${hash}.`,
      `The tick of block ${block} has the hash ${tick?.hash ?? "of no block"} in the log; on the chain it is ${hash}.`,
    );
    const every = `one is due at every block that ${distance} divides.`;
    const earlier = log.ticks[n - 1]?.block;
    for (const it of [earlier, block]) {
      if (it === undefined || it % distance === 0 || misplaced.has(it)) continue;
      misplaced.add(it);
      found.check(false, "", `The log has a tick at block ${it}, where none is due; ${every}`);
    }
    const before = earlier ?? since;
    // Before this block, ticks are due up to here.
    const due = (Math.ceil(block / distance) - 1) * distance;
    if (before < due)
      found.check(false, "", `There is no tick between blocks ${before} and ${block} in the log; ${every}`);
  }
}

/** The place of a hire in the list of a draw with `of` hires, the random number of the draw, and its result. */
export type Draw = { tick: LogTick; place: number; of: number; number: number; isDrawn: boolean };

/** Computes the draw of a hire by the formula; null if there was none yet. */
export async function drawOf(
  { store, ticks }: Pick<DerivedLog, "store" | "ticks">,
  { id, operator, ppm, eligibleBlock }: Row<"audit">,
): Promise<Draw | null> {
  const drawing = ticks.filter(({ hash }) => hash !== undefined);
  // A hire that joined in the tick's own block takes part in the next draw.
  const n = drawing.findIndex(({ block }) => block > eligibleBlock);
  const tick = drawing[n];
  if (tick === undefined) return null;
  const from = drawing[n - 1]?.block ?? 0;
  let [of, place] = [0, -1];
  for (const hire of queuedHires(store, "sample", { operator, ppm })) {
    const joined = store.get("audit", hire)?.eligibleBlock ?? 0;
    if (joined < from || joined >= tick.block) continue;
    if (hire === id) place = of;
    of++;
  }
  if (place < 0) return null;
  const words = ["tallystick/audit/sample/v1", tick.hash ?? "", operator, ppm];
  const u = drawNumber(sha256HexByNode, words) % MILLION;
  const share = (i: number) => (BigInt(i) * BigInt(ppm) + u) / MILLION;
  return { tick, place, of, number: Number(u), isDrawn: share(place + 1) > share(place) };
}
