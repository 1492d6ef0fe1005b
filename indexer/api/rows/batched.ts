import DataLoader from "dataloader";

/** The combined reads of one request, by name. */
export type Batches = Map<string, DataLoader<string, unknown>>;

/**
 * Loads one value. All values that are requested under one name in the same tick of the event loop are read
 * together, and each key once.
 *
 * @param read gives the answers in the order of the keys
 */
export function batched<Found>(
  batches: Batches,
  name: string,
  key: string,
  read: (keys: readonly string[]) => Promise<Found[]>,
): Promise<Found> {
  let loader = batches.get(name) as DataLoader<string, Found> | undefined;
  if (loader === undefined) {
    loader = new DataLoader<string, Found>(read);
    batches.set(name, loader as DataLoader<string, unknown>);
  }
  return loader.load(key);
}
