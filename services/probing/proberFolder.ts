import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { tryLock } from "fs-native-extensions";
import { TallystickError } from "tallystick-protocol/errors";

/**
 * Creates a prober's folder with its subfolders, and locks it. Two probers in one folder would probe every
 * host twice.
 *
 * @returns a function that releases the lock; the operating system releases it too when the process ends in
 * any way
 * @throws TallystickError `prober_folder`
 */
export async function openProberFolder(folder: string): Promise<() => Promise<void>> {
  const refuse = (message: string, cause?: unknown): TallystickError =>
    new TallystickError({
      code: "prober_folder",
      message,
      hint: "Stop the other prober, check the folder's permissions, or set PROBER_DIR.",
      cause,
    });
  let file: Awaited<ReturnType<typeof open>>;
  try {
    for (const room of ["observations", "reports"]) await mkdir(path.join(folder, room), { recursive: true });
    file = await open(path.join(folder, "prober.lock"), "a");
  } catch (cause) {
    throw refuse(`${folder} cannot be written: ${(cause as Error).message}.`, cause);
  }
  if (tryLock(file.fd)) return () => file.close();
  await file.close();
  throw refuse(`Another prober writes ${folder}.`);
}
