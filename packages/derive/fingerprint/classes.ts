import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { append, itemsOf } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { STATE_ID } from "../stateId.ts";
import { type Class, candidates, listClass, sizesBetween } from "./classLists.ts";
import { neededOverlap, type Similarity, sharesAtLeast } from "./tokens.ts";

/** The id of the class of agents with these tokens. */
export function classId(context: ApplyContext, tokens: readonly string[]): string {
  return context.sha256Hex(tokens.join("\n"), "utf8");
}

/**
 * Agents with the same tokens are one class. The agents of an agent's class and of the classes near it are similar to
 * it. No two agents are ever compared.
 *
 * A class whose last member leaves disappears: no search finds it any more. So the classes that agents left behind do
 * not slow later listings. If it gets a member again, it appears again, with the similarity that is required then.
 *
 * @returns the class, and the classes near it. The caller adds a member
 */
export function ensureClass(context: ApplyContext, tokens: readonly string[]): { own: Class; near: Class[] } {
  const { store, params } = context;
  const id = classId(context, tokens);
  const known = store.get("fingerprint", id);
  if (known !== null && known.members > 0) return { own: known, near: nearClasses(context, known) };

  const { tokenSets } = existingRow(store, "state", STATE_ID);
  store.update("state", STATE_ID, { tokenSets: tokenSets + 1 });
  const { numerator, denominator } = params.fingerprintSimilarity;
  const similarity = `${numerator}/${denominator}`;
  if (![...itemsOf(store, SIMILARITIES)].includes(similarity)) append(store, SIMILARITIES, similarity);
  const appeared = tokenSets + 1;
  const own = { id, tokens: tokens.join("\n"), members: 0, around: 0, core: false, appeared, similarity };
  const near = nearClasses(context, own);
  for (const { members } of near) own.around += members;
  store.put("fingerprint", own);
  listClass(context, own);
  return { own, near };
}

/**
 * Every other class that has members and is similar. The similarity that counts is the one that was required when the
 * later of the two appeared.
 */
export function nearClasses(context: ApplyContext, own: Class): Class[] {
  const tokens = own.tokens.split("\n");
  const n = tokens.length;
  const loosest = loosestSimilarity(context);
  const found: Class[] = [];
  // Other sizes are out of range: two sets of such sizes are not similar even if one contains the other.
  forEachRow(sizesBetween(context, ...sizesInRange(n, loosest)), (size) => {
    const required = new Map<string, number>();
    const requiredBy = (similarity: string): number => {
      const known = required.get(similarity);
      if (known !== undefined) return known;
      const needed = neededOverlap(n, size, parseSimilarity(similarity));
      required.set(similarity, needed);
      return needed;
    };
    for (const other of candidates(context, tokens, size, neededOverlap(n, size, loosest))) {
      const { similarity } = other.appeared > own.appeared ? other : own;
      if (other.id !== own.id && sharesAtLeast(requiredBy(similarity), tokens, other.tokens, size))
        found.push(other);
    }
  });
  return found;
}

/** The smallest and the largest size of a set that can be similar to a set of `n` tokens. */
function sizesInRange(n: number, similarity: Similarity): [least: number, most: number] {
  // Two sets share at most all tokens of the smaller one. So s ≥ n·(numerator / denominator)², and also n ≥
  // s·(numerator / denominator)².
  const [square, whole] = [BigInt(similarity.numerator) ** 2n, BigInt(similarity.denominator) ** 2n];
  const least = (BigInt(n) * square + whole - 1n) / whole;
  const most = (BigInt(n) * whole) / square;
  return [Number(least), Number(most < MAX_TOKENS ? most : MAX_TOKENS)];
}

/** The lowest similarity that was required when any set of tokens appeared. */
function loosestSimilarity({ store }: ApplyContext): Similarity {
  const [first, ...others] = [...itemsOf(store, SIMILARITIES)].map(parseSimilarity);
  if (first === undefined) throw new Error("No set of tokens has appeared yet.");
  return others.reduce((a, b) => (isLower(b, a) ? b : a), first);
}

function isLower(a: Similarity, b: Similarity): boolean {
  return BigInt(a.numerator) * BigInt(b.denominator) < BigInt(b.numerator) * BigInt(a.denominator);
}

function parseSimilarity(text: string): Similarity {
  const [numerator, denominator] = text.split("/").map(Number) as [number, number];
  return { numerator, denominator };
}

/** The list of all similarities that were required when a set of tokens appeared, each once. Only operators add to it. */
const SIMILARITIES = "similarities";

/**
 * Classes with more tokens are not searched. An agent would need 200,000 live listings for such a class, and may have
 * at most `maxListings`. The index of sizes is read in steps of 65,536, so a range without an end would take too
 * long.
 */
const MAX_TOKENS = 1n << 20n;
