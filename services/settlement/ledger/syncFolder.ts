import { open } from "node:fs/promises";

/** Puts the names in a folder on disk: a new or renamed file is not there for sure before. */
export async function syncFolder(folderPath: string): Promise<void> {
  const folder = await open(folderPath, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
