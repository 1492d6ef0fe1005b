import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { BUILD_TIMEOUT, type Chain, freshChain as plainChain } from "../../support/freshChain.ts";
import { addChaiMatchers } from "./chaiMatchers.ts";

export { BUILD_TIMEOUT, type Chain, type HardhatEthersSigner };

/** A fresh in-memory chain, whose reverts and events chai understands. */
export async function freshChain(): Promise<Chain> {
  await addChaiMatchers();
  return plainChain();
}
