import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { append, itemsOf, listLength, PAGE, replaceItems } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { addEntry, entriesUp } from "../orderIndex.ts";
import type { Row } from "../tables.ts";
import { neededOverlap, sharesAtLeast } from "./tokens.ts";

/** The id of the class of agents with these tokens. */
export function classId(context: ApplyContext, tokens: string[]): string {
  return context.sha256Hex(tokens.join("\n"), "utf8");
}

/**
 * Agents with the same tokens are one class. Two classes near each other are linked once, when the later one gets its
 * first member. So the agents of an agent's class and of the linked classes are similar to it. No two agents are ever
 * compared.
 *
 * A class that loses its last member is out of use: nobody finds it, and its links end. So the classes that agents
 * left behind do not slow the next listing. If it gets a member again, it is linked again, as a new class is.
 *
 * @returns the class. The caller adds a member to it
 */
export function ensureClass(context: ApplyContext, tokens: string[]): Row<"fingerprint"> {
  const id = classId(context, tokens);
  const known = context.store.get("fingerprint", id);
  if (known !== null && known.members > 0) return known;

  const { store } = context;
  const near = findNear(context, tokens);
  const uses = (known?.uses ?? 0) + 1;
  const created = { id, tokens: tokens.join("\n"), members: 0, around: 0, core: false, uses };
  forEachRow(near, (other) => {
    append(store, nearOf(created), useOf(other));
    append(store, nearOf(other), useOf(created));
    created.around += other.members;
  });
  store.put("fingerprint", created);
  addEntry(store, SIZES, { at: tokens.length, member: "" });
  for (const token of tokens) append(store, posting(token, tokens.length), useOf(created));
  return created;
}

/** The classes with members that are linked to a class. */
export function nearClasses(context: ApplyContext, own: Row<"fingerprint">): Row<"fingerprint">[] {
  return classesInUse(context, nearOf(own), (id) => existingRow(context.store, "fingerprint", id));
}

/**
 * Every class in use whose cosine with `tokens` is high enough. If a set shares at least `needed` of n tokens, it
 * has at least one of any n − needed + 1 tokens of these n. So only the n − needed + 1 rarest tokens are
 * looked up for each size, and no pair is missed. A class has one size, so it is compared once.
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
    const candidates = new Map<string, Row<"fingerprint">>();
    const candidate = (id: string) => {
      const row = candidates.get(id) ?? existingRow(context.store, "fingerprint", id);
      candidates.set(id, row);
      return row;
    };
    forEachRow(rarestFirst(context, tokens, size).slice(0, n - needed + 1), (token) =>
      classesInUse(context, posting(token, size), candidate),
    );
    for (const other of candidates.values())
      if (other.members > 0 && sharesAtLeast(needed, tokens, other.tokens, size)) found.push(other);
  }
  return found;
}

/**
 * The classes of a list that are still in the use that the list names. If most items are out of use, the list is
 * written again without them. So in the long run, reading a list costs no more than what was added to it and what is
 * in use.
 */
function classesInUse(
  context: ApplyContext,
  list: string,
  rowOf: (id: string) => Row<"fingerprint">,
): Row<"fingerprint">[] {
  const inUse: Row<"fingerprint">[] = [];
  let over = 0;
  forEachRow(itemsOf(context.store, list), (use) => {
    const row = rowOf(use.slice(0, use.indexOf("/")));
    if (row.members > 0 && useOf(row) === use) inUse.push(row);
    else over++;
  });
  if (over > Math.max(inUse.length, PAGE)) replaceItems(context.store, list, inUse.map(useOf));
  return inUse;
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

/** The tokens, ordered by the lengths of their lists of classes of one size. */
function rarestFirst(context: ApplyContext, tokens: string[], size: number): string[] {
  const counted: { token: string; classes: number }[] = [];
  forEachRow(tokens, (token) =>
    counted.push({ token, classes: listLength(context.store, posting(token, size)) }),
  );
  return counted.sort((a, b) => a.classes - b.classes).map((it) => it.token);
}

/** `<class>/<number>`: a time in which a class has members. It ends when the last member leaves. */
function useOf({ id, uses }: Pick<Row<"fingerprint">, "id" | "uses">): string {
  return `${id}/${uses}`;
}

/** The list of classes that are linked to a class in its present use. */
function nearOf(own: Pick<Row<"fingerprint">, "id" | "uses">): string {
  return `near/${useOf(own)}`;
}

/** The sizes that classes have or had, in order. */
const SIZES = "classSizes";

/**
 * Classes with more tokens are not searched. An agent would need 200,000 live listings for such a class, and may have
 * at most `maxListings`. The index of sizes is read in steps of 65,536, so a range without an end would take too
 * long.
 */
const MAX_TOKENS = 1n << 20n;

/** The list of the uses of classes of one size that have a token. */
function posting(token: string, size: number): string {
  return `classes/${size}/${token}`;
}
