import { open, rename } from "node:fs/promises";

/** Writes a file in one step: after a crash it is complete or missing. */
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
