/** The tick of an answer: the last tick, and the digest of everything derived up to it. */
export type AsOf = { block: number; time: number; digest: string };

/** Reads the tick of an answer; null if it is missing or malformed. */
export function asOfJson(value: unknown): AsOf | null {
  const { block, time, digest } = Object(value) as { [name: string]: unknown };
  const isCount = (it: unknown): it is number => Number.isSafeInteger(it) && (it as number) >= 0;
  if (!isCount(block) || !isCount(time) || typeof digest !== "string") return null;
  return /^0x[0-9a-f]{64}$/.test(digest) ? { block, time, digest } : null;
}

/** Reads the tick from the header of a REST answer: `block=70, time=1767225900, digest="0x…"`. */
export function asOfHeader(header: string | null): AsOf | null {
  const found = /^block=(\d{1,15}), time=(\d{1,15}), digest="(0x[0-9a-f]{64})"$/.exec(header ?? "");
  return found === null
    ? null
    : asOfJson({ block: Number(found[1]), time: Number(found[2]), digest: found[3] });
}
