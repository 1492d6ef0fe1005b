import { flat } from "./flat.ts";
import { forEachRow } from "./loadedRows.ts";
import type { Store } from "./store.ts";
import type { Row } from "./tables.ts";

/**
 * Lists of texts. Each text is one line. Lists only grow, except by {@link replaceItems}. An item usually names a row,
 * and that row says whether the item is done. The row of a list contains the list's last items, so most lists are one
 * row. Whenever the row contains `PAGE` items, they move to a page, which is another row: `<list>/<number of the
 * page>`.
 */
export const PAGE = 16;

/** The part of a store that is needed to read a list. */
type Rows = Pick<Store, "get">;

/**
 * Adds an item to the end of a list, and returns the list's new length.
 *
 * @param isReplaced whether {@link replaceItems} is used for this list, so that a row for its next page may exist
 */
export function append(store: Store, list: string, item: string, isReplaced = false): number {
  const row = store.get("list", list);
  if (row === null) {
    store.insert("list", { id: list, length: 1, tail: item });
    return 1;
  }
  const { length, tail } = withItem(store, row, item, isReplaced);
  // The id comes from the row, so that memory has this text only once.
  store.put("list", { id: row.id, length, tail });
  return length;
}

/** The id of a list, its length, and its last items: the content of its row. */
export type ListEnd = Pick<Row<"list">, "id" | "length" | "tail">;

/**
 * Adds an item to the end of a list that the caller keeps in a row of another table. Only a full page is
 * written here.
 */
export function withItem(
  store: Store,
  { id, length, tail }: ListEnd,
  item: string,
  isReplaced = false,
): Omit<ListEnd, "id"> {
  const items = length % PAGE === 0 ? item : `${tail}\n${item}`;
  if ((length + 1) % PAGE !== 0) return { length: length + 1, tail: items };
  const page = { id: pageId(id, Math.floor(length / PAGE)), items: flat(items) };
  if (isReplaced) store.put("listPage", page);
  else store.insert("listPage", page);
  return { length: length + 1, tail: "" };
}

/**
 * Gives a list other items. Rows of pages beyond the new end stay, and nobody reads them. Later items are appended with
 * `isReplaced`.
 */
export function replaceItems(store: Store, list: string, items: readonly string[]): void {
  const inPages = items.length - (items.length % PAGE);
  for (let start = 0; start < inPages; start += PAGE) {
    const page = items.slice(start, start + PAGE).join("\n");
    store.put("listPage", { id: pageId(list, start / PAGE), items: flat(page) });
  }
  store.put("list", { id: list, length: items.length, tail: items.slice(inPages).join("\n") });
}

export function listLength(store: Rows, list: string): number {
  return store.get("list", list)?.length ?? 0;
}

/** The items that the list has at the time of the call, in order. */
export function* itemsOf(store: Rows, list: string): Generator<string> {
  const row = store.get("list", list);
  if (row !== null) yield* itemsUpTo(store, row);
}

/**
 * The items, in order, of a list whose end the caller keeps. All its pages are read before the first item.
 */
export function* itemsUpTo(store: Rows, end: ListEnd): Generator<string> {
  const numbers = Array.from({ length: Math.floor(end.length / PAGE) }, (_, page) => page);
  const pages: string[][] = [];
  forEachRow(numbers, (page) => pages.push(pageItems(store, end.id, page)));
  for (const items of pages) yield* items;
  yield* tailItems(end);
}

/**
 * The items that the list has at the time of the call, in order, for callers that often need only the first ones. The
 * first page is read alone, then two pages together, then four. So few items cost few rows, and many items do not wait
 * for each page.
 */
export function* firstItemsOf(store: Rows, list: string): Generator<string> {
  const row = store.get("list", list);
  if (row === null) return;
  const end = Math.floor(row.length / PAGE);
  for (let [start, count] = [0, 1]; start < end; start += count, count *= 2) {
    const pages: string[][] = [];
    const group = Array.from({ length: Math.min(count, end - start) }, (_, n) => start + n);
    forEachRow(group, (page) => pages.push(pageItems(store, list, page)));
    for (const items of pages) yield* items;
  }
  yield* tailItems(row);
}

/** The items as an array, for a list that is known to be short. */
export function allItems(store: Rows, list: string): string[] {
  const row = store.get("list", list);
  if (row === null) return [];
  if (row.length < PAGE) return tailItems(row);
  const items: string[] = [];
  for (let page = 0; page < Math.floor(row.length / PAGE); page++)
    items.push(...pageItems(store, list, page));
  return items.concat(tailItems(row));
}

/** The item at `n`; null beyond the ends. */
export function itemOf(store: Rows, list: string, n: number): string | null {
  const row = store.get("list", list);
  return row === null ? null : itemIn(store, row, n);
}

/** The item at `n` of a list whose end the caller keeps; null beyond the ends. */
export function itemIn(store: Rows, end: ListEnd, n: number): string | null {
  if (n < 0 || n >= end.length) return null;
  const page = Math.floor(n / PAGE);
  const isInTail = page === Math.floor(end.length / PAGE);
  return lineAt(isInTail ? end.tail : pageText(store, end.id, page), n % PAGE);
}

/** The item added last; null for an empty list. */
export function lastItem(store: Rows, list: string): string | null {
  const row = store.get("list", list);
  return row === null ? null : itemIn(store, row, row.length - 1);
}

/**
 * The ids of the pages that have the last `count` items of a list, in order, for callers that read the rows themselves.
 * The items after these pages are in the list's own row.
 */
export function lastPages({ id, length }: Row<"list">, count: number): string[] {
  const end = Math.floor(length / PAGE);
  const start = Math.max(0, Math.floor((length - count) / PAGE));
  return Array.from({ length: end - start }, (_, n) => pageId(id, start + n));
}

export function tailItems({ length, tail }: Omit<ListEnd, "id">): string[] {
  return length % PAGE === 0 ? [] : tail.split("\n");
}

function pageItems(store: Rows, list: string, page: number): string[] {
  return pageText(store, list, page).split("\n");
}

function pageText(store: Rows, list: string, page: number): string {
  const row = store.get("listPage", pageId(list, page));
  if (row === null) throw new Error(`The list ${list} lacks page ${page}.`);
  return row.items;
}

/** The n-th line of a text, or null. The other lines are passed over, and no text is made for them. */
function lineAt(text: string, n: number): string | null {
  let start = 0;
  for (let line = 0; line < n; line++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return null;
    start = end + 1;
  }
  const end = text.indexOf("\n", start);
  return end < 0 ? text.slice(start) : text.slice(start, end);
}

function pageId(list: string, page: number): string {
  return `${list}/${page}`;
}
