import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { append, itemsOf, listLength } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { addEntry, entriesUp } from "../orderIndex.ts";
import type { Row } from "../tables.ts";
import { neededOverlap, sharesAtLeast } from "./tokens.ts";

/**
 * Agents with the same tokens are one class. Two classes near each other are linked once, when the later one appears.
 * So the agents of an agent's class and of the linked classes are similar to it. No two agents are ever compared.
 */
export function ensureClass(context: ApplyContext, tokens: string[]): Row<"fingerprint"> {
  const id = context.sha256Hex(tokens.join("\n"), "utf8");
  const known = context.store.get("fingerprint", id);
  if (known !== null) return known;

  const { store } = context;
  const near = findNear(context, tokens);
  let around = 0;
  forEachRow(near, (other) => {
    append(store, nearOf(id), other.id);
    append(store, nearOf(other.id), id);
    around += other.members;
  });
  const created = { id, tokens: tokens.join("\n"), members: 0, around, core: false };
  store.insert("fingerprint", created);
  addEntry(store, SIZES, { at: tokens.length, member: "" });
  for (const token of tokens) append(store, posting(token, tokens.length), id);
  return created;
}

/** The classes that are linked to a class. */
export function nearClasses(context: ApplyContext, id: string): Row<"fingerprint">[] {
  const found: Row<"fingerprint">[] = [];
  forEachRow(itemsOf(context.store, nearOf(id)), (near) => {
    found.push(existingRow(context.store, "fingerprint", near));
  });
  return found;
}

/**
 * Every class whose cosine with `tokens` is high enough. If a set shares at least `needed` of n tokens, it
 * has at least one of any n − needed + 1 tokens of these n. So only the n − needed + 1 rarest tokens are
 * looked up for each size, and no pair is missed. A class has one size, so it is looked at once.
 */
function findNear(context: ApplyContext, tokens: string[]): Row<"fingerprint">[] {
  const { fingerprintSimilarity: similarity } = context.params;
  const n = tokens.length;
  const found: Row<"fingerprint">[] = [];
  // Other sizes are out of range: two sets of such sizes are not similar even if one contains the other.
  const [least, most] = sizesInRange(n, similarity);
  for (const { at: size } of entriesUp(context.store, SIZES, least, most)) {
    const needed = neededOverlap(n, size, similarity);
    if (size === n && needed === n) continue;
    const candidates = new Set<string>();
    for (const token of rarestFirst(context, tokens, size).slice(0, n - needed + 1))
      for (const id of itemsOf(context.store, posting(token, size))) candidates.add(id);
    forEachRow(candidates, (id) => {
      const other = existingRow(context.store, "fingerprint", id);
      if (sharesAtLeast(needed, tokens, other.tokens, size)) found.push(other);
    });
  }
  return found;
}

/** The smallest and the largest size of a set that can be similar to a set of `n` tokens. */
function sizesInRange(
  n: number,
  similarity: { numerator: number; denominator: number },
): [least: number, most: number] {
  // Two sets share at most all tokens of the smaller one. So s ≥ n·(numerator / denominator)², and also n ≥
  // s·(numerator / denominator)².
  const [square, whole] = [BigInt(similarity.numerator) ** 2n, BigInt(similarity.denominator) ** 2n];
  const least = (BigInt(n) * square + whole - 1n) / whole;
  const most = (BigInt(n) * whole) / square;
  return [Number(least), Number(most < MAX_TOKENS ? most : MAX_TOKENS)];
}

/** The tokens, ordered by how many classes of one size have them. */
function rarestFirst(context: ApplyContext, tokens: string[], size: number): string[] {
  const counted: { token: string; classes: number }[] = [];
  forEachRow(tokens, (token) =>
    counted.push({ token, classes: listLength(context.store, posting(token, size)) }),
  );
  return counted.sort((a, b) => a.classes - b.classes).map((it) => it.token);
}

function nearOf(id: string): string {
  return `near/${id}`;
}

/** The sizes that classes have, in order. */
const SIZES = "classSizes";

/**
 * Classes with more tokens are not searched. An agent would need 200,000 live listings for such a class, and may have
 * at most `maxListings`. The index of sizes is read in steps of 65,536, so a range without an end would take too
 * long.
 */
const MAX_TOKENS = 1n << 20n;

/** The list of classes of one size that have a token. */
function posting(token: string, size: number): string {
  return `classes/${size}/${token}`;
}
