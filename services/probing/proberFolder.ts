import { mkdir, open } from "node:fs/promises";
import path from "node:path";
import { tryLock } from "fs-native-extensions";
import { TallystickError } from "tallystick-protocol/errors";

/**
 * Makes a prober's folder with its rooms and locks it: two probers in one would look at every host twice.
 *
 * @returns a function that gives it free; the operating system does so when the process ends, however it ends
 * @throws TallystickError `prober_folder`
 */
export async function openProberFolder(folder: string): Promise<() => Promise<void>> {
  const refuse = (message: string, cause?: unknown): TallystickError =>
    new TallystickError({
      code: "prober_folder",
      message,
      hint: "Stop the other prober, see to the folder's permissions, or set PROBER_DIR.",
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
