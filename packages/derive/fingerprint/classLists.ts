import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { append, itemsOf, listLength, PAGE, replaceItems } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { addEntry, numbersUp } from "../orderIndex.ts";
import type { Row } from "../tables.ts";

// Lists of classes by their tokens and their number of tokens. A class is in these lists from the appearance of its set
// until the list is written again without the classes that disappeared.

/** A class with members. The columns of a class without members mean nothing. */
export type Class = Row<"fingerprint">;

/**
 * Adds a class whose set of tokens has appeared. The first classes of a size are in the list of that size only. A class
 * with many tokens would otherwise be in hundreds of lists, and an agent that adds listings passes through many sizes.
 * The list of a size has at most as many classes as a set of this size has tokens. So reading it costs no more than
 * reading one list for each token. The search before an addition has shortened this list.
 */
export function listClass({ store }: ApplyContext, own: Class): void {
  const tokens = own.tokens.split("\n");
  const size = tokens.length;
  addEntry(store, SIZES, { at: size, member: "" });
  const isFirst = listLength(store, ofSize(size)) < size;
  if (!isFirst && !hasTokenLists(store, size)) append(store, tokenLists(size), "");
  const lists = isFirst ? [ofSize(size)] : tokens.map((token) => withToken(token, size));
  forEachRow(lists, (list) => append(store, list, appearanceOf(own), true));
}

/** The numbers of tokens that any class has or had, in order. */
export function sizesBetween({ store }: ApplyContext, least: number, most: number): number[] {
  return [...numbersUp(store, SIZES, least, most)];
}

/**
 * All classes of one size that have members and share at least `needed` of these tokens, and some that share fewer. The
 * first classes of the size are all read. If a set shares `needed` of n tokens, it has at least one of any n − needed + 1
 * of them. So of the other classes only those with one of the n − needed + 1 rarest tokens are read.
 */
export function candidates(
  context: ApplyContext,
  tokens: readonly string[],
  size: number,
  needed: number,
): Iterable<Class> {
  const found = new Map<string, Class>();
  const take = (list: string) => {
    for (const it of present(context, list, found)) found.set(it.id, it);
  };
  const takeOthers = () => {
    if (!hasTokenLists(context.store, size)) return;
    const rarest = rarestFirst(context, tokens, size).slice(0, tokens.length - needed + 1);
    forEachRow(rarest, (token) => take(withToken(token, size)));
  };
  forEachRow([() => take(ofSize(size)), takeOthers], (read) => read());
  return found.values();
}

/**
 * The classes of a list that have had members since they were added. The other classes have disappeared. If most
 * classes have disappeared, the list is written again without them. So in the long run a list costs only what was added
 * to it and what it still has.
 *
 * @param read classes that were read before
 */
function present(context: ApplyContext, list: string, read: ReadonlyMap<string, Class>): Class[] {
  const classes: Class[] = [];
  let gone = 0;
  forEachRow(itemsOf(context.store, list), (appearance) => {
    const id = appearance.slice(0, appearance.indexOf("/"));
    const row = read.get(id) ?? existingRow(context.store, "fingerprint", id);
    if (row.members > 0 && appearanceOf(row) === appearance) classes.push(row);
    else gone++;
  });
  if (gone > Math.max(classes.length, PAGE)) replaceItems(context.store, list, classes.map(appearanceOf));
  return classes;
}

/** The tokens, ordered by the lengths of their lists. */
function rarestFirst({ store }: ApplyContext, tokens: readonly string[], size: number): string[] {
  const counted: { token: string; length: number }[] = [];
  forEachRow(tokens, (token) => counted.push({ token, length: listLength(store, withToken(token, size)) }));
  return counted.sort((a, b) => a.length - b.length).map((it) => it.token);
}

/** `<class>/<ordinal>`: the item of a list. */
function appearanceOf({ id, appeared }: Class): string {
  return `${id}/${appeared}`;
}

/** An index of the sizes of sets. */
const SIZES = "classSizes";

/** The list of the first classes of one size. */
function ofSize(size: number): string {
  return `classes/${size}`;
}

/** A list with an item if any class of this size is in the lists of its tokens. */
function tokenLists(size: number): string {
  return `tokenLists/${size}`;
}

function hasTokenLists(store: ApplyContext["store"], size: number): boolean {
  return listLength(store, tokenLists(size)) > 0;
}

/** The list of the classes of one size that have a token, without the first ones of the size. */
function withToken(token: string, size: number): string {
  return `classes/${size}/${token}`;
}
