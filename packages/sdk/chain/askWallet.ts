import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { PublicClient } from "viem";
import { within } from "../deadline.ts";

/** Asks a contract wallet whether a signature over a hash is its own (ERC-1271). `unknown`: the chain gave no answer. */
export type AskWallet = (question: {
  signer: Address;
  hash: Hex;
  signature: Hex;
}) => Promise<"yes" | "no" | "unknown">;

/** How long the chain may take, in milliseconds. */
const WALLET_MS = 5_000;

/** What ERC-1271 answers for a good signature. */
const MAGIC = "0x1626ba7e";

const abi = [
  {
    type: "function",
    name: "isValidSignature",
    stateMutability: "view",
    inputs: [{ type: "bytes32" }, { type: "bytes" }],
    outputs: [{ type: "bytes4" }],
  },
] as const;

/** Asks by a chain client, at its latest block. A wallet that reverts, burns its gas or answers anything else says no. */
export function walletAsker(client: PublicClient): AskWallet {
  return async ({ signer, hash, signature }) => {
    const asked = client
      .readContract({ address: signer, abi, functionName: "isValidSignature", args: [hash, signature] })
      .then(
        (answer) => (answer === MAGIC ? "yes" : "no"),
        (error: unknown) => (isOfContract(error) ? "no" : "unknown"),
      );
    return (await within(asked, WALLET_MS)) ?? "unknown";
  };
}

/** Whether the call reached the chain: then the error is the wallet's, or there is no wallet. */
function isOfContract(error: unknown): boolean {
  for (
    let at = Object(error), depth = 0;
    depth < 10 && at.name !== undefined;
    at = Object(at.cause), depth++
  ) {
    if (["ContractFunctionZeroDataError", "ContractFunctionRevertedError"].includes(at.name)) return true;
  }
  return false;
}
