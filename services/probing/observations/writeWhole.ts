import { open, rename } from "node:fs/promises";

/** Writes a file so that it is there whole or not at all, whenever the process ends. */
export async function writeWhole(file: string, text: string): Promise<void> {
  const draft = `${file}.tmp`;
  const handle = await open(draft, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, file);
}
