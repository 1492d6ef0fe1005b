import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { addressSchema } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { z } from "zod";

/**
 * A deployment, as `contracts/deployments/<chainId>.json` records it. It has everything that a node's
 * configuration needs.
 */
export const deploymentSchema = z.strictObject({
  chainId: z.int().positive(),
  /** A block before the first of these contracts was deployed. It is the START_BLOCK of an indexer. */
  startBlock: z.int().nonnegative(),
  token: addressSchema,
  hireEscrow: z.strictObject({
    address: addressSchema,
    providerId: z.string().min(1),
    guardian: addressSchema,
  }),
  anchoredLedger: addressSchema,
});

export type Deployment = z.infer<typeof deploymentSchema>;

/**
 * Reads a deployment file.
 *
 * @returns undefined if there is no such file
 * @throws TallystickError `bad_deployment_file`
 */
export async function readDeployment(file: string): Promise<Deployment | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return deploymentSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new TallystickError({
      code: "bad_deployment_file",
      message: `${file} is not a deployment: ${(cause as Error).message}`,
      hint: "Restore it from version control, or name another file by --output.",
      cause,
    });
  }
}

/** Writes a deployment file in one step, so nobody ever reads an incomplete file. */
export async function writeDeployment(file: string, deployment: Deployment): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(deploymentSchema.parse(deployment), null, 2)}\n`);
  await rename(unfinished, file);
}
