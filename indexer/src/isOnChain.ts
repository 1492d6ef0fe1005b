import { setTimeout as sleep } from "node:timers/promises";
import { BlockNotFoundError, type Hex } from "viem";
import { shutdownSignal } from "../ponderProcess.ts";
import { tryAgain } from "../tryAgain.ts";
import { freshChain } from "./freshChain.ts";

/** How often the chain is asked, and the pause between. A node behind the RPC's address may follow a fork for a moment. */
const LOOKS = 3;
const PAUSE_MS = 2_000;

/**
 * Whether the chain still has a block. It has it only if all of {@link LOOKS} answers say so. The parameters have no
 * block (""), and no reorganization removes them.
 */
export async function isOnChain(block: string): Promise<boolean> {
  if (block === "") return true;
  const signal = shutdownSignal();
  const chain = freshChain();
  const look = async (): Promise<boolean> => {
    try {
      const { number } = await chain.getBlock({ blockHash: block as Hex });
      // Nodes answer blocks of other forks by their hashes too.
      return (await chain.getBlock({ blockNumber: number })).hash === block;
    } catch (error) {
      if (error instanceof BlockNotFoundError) return false;
      throw error;
    }
  };
  for (let n = 0; n < LOOKS; n++) {
    if (n > 0) await sleep(PAUSE_MS, undefined, { signal });
    if (!(await tryAgain("ask the chain for a block", signal, look))) return false;
  }
  return true;
}
