import hre, { network } from "hardhat";

/**
 * The time limit for hooks that call {@link freshChain}. The first call in a process compiles the contracts if
 * necessary.
 */
export const BUILD_TIMEOUT = 180_000;

let built: Promise<unknown> | undefined;

/** A fresh in-memory chain. The contracts are built first, so that plain mocha runs from a bare clone, too. */
export async function freshChain() {
  built ??= hre.tasks.getTask("build").run({ quiet: true });
  await built;
  return network.create();
}

export type Chain = Awaited<ReturnType<typeof freshChain>>;
