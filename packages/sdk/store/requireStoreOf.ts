import { TallystickError } from "tallystick-protocol/errors";
import type { KeyValueStore } from "./keyValueStore.ts";

/** What the contents of a store are about, such as a chain and a contract. */
export type StoreScope = { readonly [name: string]: string | number };

/**
 * Requires that a store is about this chain and these accounts. The first call writes them down. The stored data of one
 * contract would be wrong for another contract.
 *
 * @param name of the program that uses the store: small letters
 * @param hint what to do if the store is about something else
 * @throws TallystickError `other_store`
 */
export async function requireStoreOf(
  store: Pick<KeyValueStore, "get" | "putNew">,
  { name, scope, hint }: { name: string; scope: StoreScope; hint: string },
): Promise<void> {
  const key = `scope/${name}`;
  const read = (): Promise<StoreScope | undefined> => store.get<StoreScope>(key);
  let kept = await read();
  // Another process may write the scope first. Then its scope counts.
  if (kept === undefined) kept = (await store.putNew(key, scope)) ? scope : await read();
  if (kept !== undefined && sentenceOf(kept) === sentenceOf(scope)) return;
  throw new TallystickError({
    code: "other_store",
    message: `What is stored is about ${kept ? sentenceOf(kept) : "something else"}, not about ${sentenceOf(scope)}.`,
    hint,
  });
}

function sentenceOf(scope: StoreScope): string {
  return Object.entries(scope)
    .map(([name, value]) => `${name} ${value}`)
    .sort()
    .join(", ");
}
