import { drawNumber } from "tallystick-derive/audits/drawnPlaces";
import { queuedHires } from "tallystick-derive/audits/queues";
import type { Row } from "tallystick-derive/tables";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import type { AuditChain } from "./auditChain.ts";
import type { DerivedLog, LogTick } from "./derivedLog.ts";
import type { Findings } from "./findings.ts";

const MILLION = 1_000_000n;

/** The rate of the queue of which each hire is drawn, in parts per million. */
const ALWAYS = 1_000_000;

/**
 * The most ticks that are checked. No hire waits that many ticks for its draw. An audit for which there is no auditor may
 * wait longer, up to `disclosureSeconds`. Then its last ticks are not checked, and the command says so.
 */
const MAX_TICKS = 1_000;

/**
 * Checks that ticks are at the blocks where ticks are due, that their hashes are those of the chain, and that none is
 * left out, also after the log's last tick. A node that chooses the block of a tick, or leaves a tick out, chooses the hash
 * of the draw, or whether there is one.
 *
 * @param blocks of ticks; if there are too many, the last ones are not checked
 * @param since from this block on ticks are due, also those before the log's first tick
 */
export async function checkTicks(
  log: Pick<DerivedLog, "ticks" | "tickBlocks" | "lastBlock">,
  { blocks, since }: { blocks: number[]; since: number },
  chain: Pick<AuditChain, "blockHash">,
  found: Findings,
) {
  const distance = log.tickBlocks;
  const index = new Map(log.ticks.map(({ block }, n) => [block, n]));
  const wanted = [...new Set(blocks)];
  const misplaced = new Set<number>();
  if (wanted.length > MAX_TICKS)
    found.unchecked.push(`${wanted.length - MAX_TICKS} of ${wanted.length} ticks were not compared.`);
  const every = `one is due at every block that ${distance} divides.`;
  const checkGap = (before: number, block: number) => {
    // Before this block, ticks are due up to here.
    const due = (Math.ceil(block / distance) - 1) * distance;
    if (before < due)
      found.check(false, "", `There is no tick between blocks ${before} and ${block} in the log; ${every}`);
  };
  for (const block of wanted.slice(0, MAX_TICKS).sort((a, b) => a - b)) {
    const n = index.get(block) ?? -1;
    const tick = log.ticks[n];
    const hash = await chain.blockHash(block);
    found.check(
      tick?.hash === hash,
      `The tick of block ${block} has that block's hash, ${hash}.`,
      `The tick of block ${block} has the hash ${tick?.hash ?? "of no block"} in the log; on the chain it is ${hash}.`,
    );
    const earlier = log.ticks[n - 1]?.block;
    for (const it of [earlier, block]) {
      if (it === undefined || it % distance === 0 || misplaced.has(it)) continue;
      misplaced.add(it);
      found.check(false, "", `The log has a tick at block ${it}, where none is due; ${every}`);
    }
    checkGap(earlier ?? since, block);
  }
  checkGap(log.ticks.at(-1)?.block ?? since, log.lastBlock);
}

/** The place of a hire in the list of a draw with `of` hires, the random number of the draw, and its result. */
export type Draw = { tick: LogTick; place: number; of: number; number: number; isDrawn: boolean };

/**
 * Computes the draw of a hire by the formula; null if there was none yet. For a contested hire that joined the queue of
 * its refund, this is the draw of that queue. If the operator of its audits has left the parameters, no hire is drawn.
 */
export async function drawOf(
  log: Pick<DerivedLog, "store" | "ticks" | "refunds" | "history">,
  { id, operator, ppm }: Row<"audit">,
): Promise<Draw | null> {
  const { ticks, history } = log;
  const queue = joinedHires(log, { operator, ppm });
  // A hire may be in the queue twice, if its refund came before its draw. The first place counts.
  const own = queue.find(({ hire }) => hire === id);
  if (own === undefined) return null;
  const drawing = ticks.filter(({ hash }) => hash !== undefined);
  // A hire that joined in the tick's own block takes part in the next draw.
  const n = drawing.findIndex(({ block }) => block > own.block);
  const tick = drawing[n];
  if (tick === undefined) return null;
  const from = drawing[n - 1]?.block ?? 0;
  const drawn = queue.filter(({ block }) => block >= from && block < tick.block);
  const [of, place] = [drawn.length, drawn.indexOf(own)];
  const words = ["tallystick/audit/sample/v1", tick.hash ?? "", operator, ppm];
  const u = drawNumber(sha256HexByNode, words) % MILLION;
  const share = (i: number) => (BigInt(i) * BigInt(ppm) + u) / MILLION;
  // A tick is the last event of its block.
  const params = history.findLast(({ from }) => from.block <= tick.block)?.params;
  const isFollowed = Object.hasOwn(params?.audit.operators ?? {}, operator);
  return { tick, place, of, number: Number(u), isDrawn: isFollowed && share(place + 1) > share(place) };
}

/**
 * The hires of a queue, each with the block in which it joined. A hire joins when it becomes eligible. A contested hire
 * may later join the queue of those that are always drawn, in the block of its refund.
 */
function joinedHires(
  { store, refunds }: Pick<DerivedLog, "store" | "refunds">,
  { operator, ppm }: { operator: string; ppm: number },
): { hire: string; block: number }[] {
  const waited = new Set<string>();
  if (ppm === ALWAYS)
    for (const { id } of store.rows("auditQueue").values()) {
      const [kind, whose, rate] = id.split("/");
      if (kind !== "sample" || whose !== operator || Number(rate) === ppm) continue;
      for (const hire of queuedHires(store, "sample", { operator, ppm: Number(rate) })) waited.add(hire);
    }
  const joined: { hire: string; block: number }[] = [];
  for (const hire of queuedHires(store, "sample", { operator, ppm })) {
    const eligible = store.get("audit", hire)?.eligibleBlock ?? 0;
    // A hire that waited in this or another queue before joined this one by its refund.
    joined.push({ hire, block: waited.has(hire) ? (refunds.get(hire) ?? eligible) : eligible });
    waited.add(hire);
  }
  return joined;
}
