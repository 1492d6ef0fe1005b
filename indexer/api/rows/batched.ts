import DataLoader from "dataloader";

/** What one request has asked for together so far, by name. */
export type Batches = Map<string, DataLoader<string, unknown>>;

/**
 * One answer of many: everything asked for under one name in one tick of the event loop is read together, and each key once.
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
