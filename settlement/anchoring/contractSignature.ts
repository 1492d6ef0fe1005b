import { ContractFunctionExecutionError, createPublicClient, parseAbi, type Transport } from "viem";
import type { IsContractSignature } from "../engine/checkSignature.ts";

const erc1271Abi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);
const MAGIC_VALUE = "0x1626ba7e";

/** Asks contract wallets for their signatures (ERC-1271) over an RPC. An address without code never signed anything. */
export function contractSignature(transport: Transport): IsContractSignature {
  const client = createPublicClient({ transport });
  return async ({ signer, hash, signature }) => {
    const code = await client.getCode({ address: signer });
    if (code === undefined || code === "0x") return false;
    try {
      const args = [hash, signature] as const;
      const answer = await client.readContract({
        address: signer,
        abi: erc1271Abi,
        functionName: "isValidSignature",
        args,
      });
      return answer === MAGIC_VALUE;
    } catch (error) {
      // The wallet answered by reverting; an RPC that cannot be reached is another matter.
      if (error instanceof ContractFunctionExecutionError) return false;
      throw error;
    }
  };
}
