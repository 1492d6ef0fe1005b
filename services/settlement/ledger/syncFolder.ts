import { open } from "node:fs/promises";

/** Puts the names in a folder on disk. Before that a new or renamed file may be lost. */
export async function syncFolder(folderPath: string): Promise<void> {
  const folder = await open(folderPath, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
