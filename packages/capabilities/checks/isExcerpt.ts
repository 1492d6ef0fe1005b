/** Words of a run that chance does not copy. */
const RUN = 6;

/** A copy may have a word put in front of it, or one changed. */
const [COPIED, STRETCH] = [0.8, 1.35];

/** Words, and single signs where there are no spaces, without their dress. */
function tokensOf(text: string): string[] {
  const tokens = text
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu);
  return tokens ?? [];
}

/**
 * Whether a text is one stretch of its source, from wherever in it, a few words changed: most of its words stand in runs of
 * six that the source has too, and these lie together there. Sentences chosen here and there are no excerpt. Linear.
 */
export function isExcerpt(text: string, source: string): boolean {
  const [own, others] = [tokensOf(text), tokensOf(source)];
  if (own.length < 2 * RUN) return false;
  const places = new Map<string, number>();
  for (let at = 0; at + RUN <= others.length; at++) {
    const run = others.slice(at, at + RUN).join(" ");
    if (!places.has(run)) places.set(run, at);
  }
  const copied = new Set<number>();
  const found: number[] = [];
  for (let at = 0; at + RUN <= own.length; at++) {
    const place = places.get(own.slice(at, at + RUN).join(" "));
    if (place === undefined) continue;
    for (let word = at; word < at + RUN; word++) copied.add(word);
    found.push(place);
  }
  if (copied.size < COPIED * own.length) return false;
  // A word or two may stand elsewhere as well: what counts is where most of it stands.
  found.sort((a, b) => a - b);
  const trimmed = found.slice(Math.floor(found.length * 0.05), Math.ceil(found.length * 0.95));
  const span = (trimmed.at(-1) ?? 0) - (trimmed[0] ?? 0) + RUN;
  return span <= STRETCH * own.length;
}
