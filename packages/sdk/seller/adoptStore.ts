import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import type { Job } from "./job.ts";
import { isOfSomeSeller, sellerStore } from "./sellerStore.ts";

/**
 * The folders of a seller's store. Payments move first, so that no payment can be used again while the rest
 * moves.
 */
const FOLDERS = ["payment", "job", "seen", "free", "outbox", "refused", "callback"];

/**
 * Refuses a store with entries of an older version, in which entries did not name their seller. They would be
 * ignored silently: used payments and nonces could be used again, and unfinished work and receipts would wait
 * for ever.
 *
 * @throws TallystickError `store_of_before`
 */
export async function requireAdopted(store: KeyValueStore): Promise<void> {
  for (const folder of FOLDERS) {
    const key = (await store.keys(folder)).find((name) => !isOfSomeSeller(name));
    if (key === undefined) continue;
    throw new TallystickError({
      code: "store_of_before",
      message: `The store has entries of an older version, such as ${key}, which do not say to which seller they belong.`,
      hint: "If one seller alone used this store, stop it and run adoptStore({ store, seller }) once; else give each seller a new store.",
      details: { key },
    });
  }
}

/**
 * Renames the entries of an older version so that they name their seller. Only for a store that this seller
 * alone has used, and while no process uses it. After an interruption, run it again.
 *
 * @returns how many entries it has taken over
 * @throws TallystickError `store_of_another`, before anything is moved, when another wallet has signed a receipt in it
 * @example await adoptStore({ store: fileStore("./seller"), seller: account.address })
 */
export async function adoptStore(parameters: { store: KeyValueStore; seller: string }): Promise<number> {
  const { store } = parameters;
  const seller = parameters.seller.toLowerCase() as Address;
  const own = sellerStore(store, seller);
  const old: string[] = [];
  for (const folder of FOLDERS) {
    old.push(...(await store.keys(folder)).filter((name) => !isOfSomeSeller(name)));
  }
  for (const key of old) {
    const signer = signerOf(await store.get(key));
    if (signer === undefined || signer === seller) continue;
    throw new TallystickError({
      code: "store_of_another",
      message: `${key} was signed by ${signer}, not by ${seller}.`,
      hint: "The store does not show which seller an entry belongs to: give each seller a new store.",
      details: { key },
    });
  }
  for (const key of old) {
    // The old copy is removed only after the new one is stored.
    await own.putNew(key, await store.get(key));
    await store.delete(key);
  }
  return old.length;
}

/** The signer of a job's receipt, or of a receipt that waits for the ledger. */
function signerOf(entry: unknown): string | undefined {
  const { answer, record } = Object(entry) as Partial<Job> & { record?: { signer?: string } };
  return (answer?.signed_receipt?.signer ?? record?.signer)?.toLowerCase();
}
