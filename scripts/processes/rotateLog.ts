import { copyFile, rename, rm, stat, truncate } from "node:fs/promises";

/** How many earlier parts of a log are kept: `.1` is the newest. */
export const KEPT_LOGS = 4;

/**
 * Empties a log that has more than `mostBytes` bytes. Its content becomes `<file>.1`. Each earlier part gets the next
 * number, and the oldest is deleted. The file itself stays, because a running process has it open and appends to it.
 * Lines that the process writes during the copy may be lost. On a full disk the content is lost, so that the log
 * cannot keep the disk full.
 *
 * @returns whether it was emptied
 */
export async function rotateLog(file: string, mostBytes: number): Promise<boolean> {
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || found.size <= mostBytes) return false;
  await rm(`${file}.${KEPT_LOGS}`, { force: true });
  for (let part = KEPT_LOGS - 1; part > 0; part--)
    await rename(`${file}.${part}`, `${file}.${part + 1}`).catch(() => {});
  await copyFile(file, `${file}.1`).catch(() => rm(`${file}.1`, { force: true }));
  await truncate(file, 0);
  return true;
}
