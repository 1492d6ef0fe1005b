import { open, rename } from "node:fs/promises";
import { keepOwner } from "./keepOwner.ts";

/**
 * Writes a file under a temporary name and then renames it. So the file is complete, or not there. After a
 * power failure the new name is certain only if its folder was synced.
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
  await keepOwner(unfinished, file);
  await rename(unfinished, file);
}
