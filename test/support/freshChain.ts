import hre, { network } from "hardhat";

/** For hooks that call {@link freshChain}: the first one in a process compiles when nobody has before. */
export const BUILD_TIMEOUT = 180_000;

let built: Promise<unknown> | undefined;

/** A fresh in-memory chain. The contracts are built first, so that plain mocha runs from a bare clone, too. */
export async function freshChain() {
  built ??= hre.tasks.getTask("build").run({ quiet: true });
  await built;
  return network.create();
}

export type Chain = Awaited<ReturnType<typeof freshChain>>;
