import { type Answer, after, type Store } from "./store.ts";

/** Appends to a numbered list. Lists only grow; what is done with is told by the row an item names. */
export async function append(store: Store, list: string, value: string): Promise<void> {
  const row = await store.get("list", list);
  const length = row?.length ?? 0;
  await store.insert("item", { id: `${list}/${length}`, value });
  if (row === null) await store.insert("list", { id: list, length: 1 });
  else await store.update("list", list, { length: length + 1 });
}

/** Adds one to the length of a list whose items are of no interest. */
export async function countIn(store: Store, list: string): Promise<void> {
  const row = await store.get("list", list);
  if (row === null) await store.insert("list", { id: list, length: 1 });
  else await store.update("list", list, { length: row.length + 1 });
}

export function listLength(store: Store, list: string): Answer<number> {
  return after(store.get("list", list), (row) => row?.length ?? 0);
}

/** The items that the list has when it is asked, in order. */
export async function* itemsOf(store: Store, list: string): AsyncGenerator<string> {
  const length = await listLength(store, list);
  for (let n = 0; n < length; n++) yield itemAt(await store.get("item", `${list}/${n}`), list);
}

/** The item at `n`, or null beyond the end. */
export async function itemOf(store: Store, list: string, n: number): Promise<string | null> {
  return (await store.get("item", `${list}/${n}`))?.value ?? null;
}

/** The item added last, or null. */
export async function lastItem(store: Store, list: string): Promise<string | null> {
  const length = await listLength(store, list);
  return length === 0 ? null : itemAt(await store.get("item", `${list}/${length - 1}`), list);
}

function itemAt(row: { value: string } | null, list: string): string {
  if (row === null) throw new Error(`The list ${list} lacks an item below its length.`);
  return row.value;
}
