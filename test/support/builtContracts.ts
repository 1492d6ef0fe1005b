import hre from "hardhat";
import { BUILT } from "../../tools/testing/steps.ts";

let built: Promise<unknown> | undefined;

/** Builds the contracts where `npm test` has not done so, so that plain mocha runs from a bare clone, too. */
export async function builtContracts(): Promise<void> {
  built ??= process.env[BUILT] ? Promise.resolve() : hre.tasks.getTask("build").run({ quiet: true });
  await built;
}
