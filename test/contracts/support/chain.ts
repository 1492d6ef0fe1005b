import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { BUILD_TIMEOUT, type Chain, freshChain as plainChain } from "../../support/freshChain.ts";
import { addChaiMatchers } from "./chaiMatchers.ts";

export { BUILD_TIMEOUT, type Chain, type HardhatEthersSigner };

/** A new in-memory chain. Chai can check its reverts and events. */
export async function freshChain(): Promise<Chain> {
  await addChaiMatchers();
  return plainChain();
}
