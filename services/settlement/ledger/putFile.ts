import { open, rename } from "node:fs/promises";

/**
 * Writes a file under a second name, which then takes the place of the first: it is whole, or not there. Its folder has to
 * be synced before a loss of power may count on the name.
 */
export async function putFile(file: string, bytes: Uint8Array | string, mode = 0o644): Promise<void> {
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, "w", mode);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}
