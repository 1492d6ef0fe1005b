import hre from "hardhat";
import { BUILT } from "./steps.ts";

let built: Promise<unknown> | undefined;

/** Builds the contracts if `npm test` has not built them already. So plain mocha works in a new clone too. */
export async function builtContracts(): Promise<void> {
  built ??= process.env[BUILT] ? Promise.resolve() : hre.tasks.getTask("build").run({ quiet: true });
  await built;
}
