import type { MemoryStore } from "tallystick-derive/memoryStore";
import { TallystickError } from "tallystick-protocol/errors";
import { digestsOf, type TickDigest } from "./digestsOf.ts";

/**
 * Compares the digest that was derived from a log with the digest that a node gives, at every tick of the log.
 *
 * @param lines the number of every tick's line, by block
 * @returns how many ticks agree: all of them
 * @throws TallystickError `digest_differs`, naming the first tick that differs and its line
 */
export async function checkDigests(
  url: string,
  store: MemoryStore,
  lines: ReadonlyMap<number, number>,
  signal?: AbortSignal,
): Promise<number> {
  const own: TickDigest[] = [...store.rows("digest").values()]
    .map(({ block, time, digest }) => ({ block, time, digest, line: lines.get(block) ?? 0 }))
    .sort((a, b) => a.block - b.block);
  const last = own.at(-1);
  if (last === undefined) return 0;
  let agreed = 0;
  for await (const said of digestsOf(url, { to: last.block, signal })) {
    const mine = own[agreed];
    if (mine === undefined || mine.block > said.block) throw differs(url, own[agreed - 1], said, null, said);
    const isSame = (["block", "time", "digest", "line"] as const).every((name) => mine[name] === said[name]);
    if (!isSame) throw differs(url, own[agreed - 1], mine, mine, mine.block === said.block ? said : null);
    agreed++;
  }
  const missing = own[agreed];
  if (missing !== undefined) throw differs(url, own[agreed - 1], missing, missing, null);
  return agreed;
}

function differs(
  url: string,
  agreed: TickDigest | undefined,
  { block, line }: TickDigest,
  derived: TickDigest | null,
  said: TickDigest | null,
): TallystickError {
  const tell = (it: TickDigest | null) =>
    it === null ? "has no tick there" : `has ${it.digest}, time ${it.time}, line ${it.line}`;
  const before =
    agreed === undefined
      ? "It is the first tick."
      : `Up to the tick of block ${agreed.block}, line ${agreed.line}, they agree.`;
  return new TallystickError({
    code: "digest_differs",
    message: `The tick of block ${block}, line ${line}, is the first that differs: the log ${tell(derived)}; ${url} ${tell(said)}. ${before}`,
    hint:
      `Look at lines ${(agreed?.line ?? 0) + 1} to ${line} first; the cause may also be an earlier line that changed nothing until then. ` +
      "Compare with another node (tallystick compare).",
  });
}
