import { network } from "hardhat";
import { builtContracts } from "../../tools/testing/builtContracts.ts";

/**
 * The time limit for hooks that call {@link freshChain}. The first call in a process compiles the contracts if
 * necessary.
 */
export const BUILD_TIMEOUT = 180_000;

/** A new in-memory chain. The contracts are built before. */
export async function freshChain() {
  await builtContracts();
  return network.create();
}

export type Chain = Awaited<ReturnType<typeof freshChain>>;
