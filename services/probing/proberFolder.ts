import { lockFolder, type ReleaseLock } from "tallystick-runtime/processes/lockFolder";

/**
 * Creates a prober's folder with its subfolders, and locks it. Two probers in one folder would probe every
 * host twice.
 *
 * @throws TallystickError `prober_folder`
 */
export async function openProberFolder(folder: string): Promise<ReleaseLock> {
  return await lockFolder(folder, {
    ...{ file: "prober.lock", program: "prober", subfolders: ["observations", "reports"] },
    code: "prober_folder",
    hint: "Stop the other prober, check the folder's permissions, or set PROBER_DIR.",
  });
}
