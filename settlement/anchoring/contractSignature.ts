import {
  AbiDecodingDataSizeTooSmallError,
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  createPublicClient,
  parseAbi,
  type Transport,
} from "viem";
import { TallystickError } from "../../protocol/errors.ts";
import type { IsContractSignature } from "../signatures/checkSignature.ts";

const erc1271Abi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);
const MAGIC_VALUE = "0x1626ba7e";

/** What a contract does that has no such function, or says no by reverting. */
const ANSWERS_NO = [
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  AbiDecodingDataSizeTooSmallError,
];

/**
 * Asks contract wallets for their signatures (ERC-1271) over an RPC. An address without code never signed anything.
 *
 * The function it makes throws TallystickError `chain_unavailable` (503) when the chain cannot be asked.
 */
export function contractSignature(transport: Transport): IsContractSignature {
  const client = createPublicClient({ transport });
  return async ({ signer, hash, signature }) => {
    try {
      const code = await client.getCode({ address: signer });
      if (code === undefined || code === "0x") return false;
      const args = [hash, signature] as const;
      const call = { address: signer, abi: erc1271Abi, functionName: "isValidSignature", args } as const;
      return (await client.readContract(call)) === MAGIC_VALUE;
    } catch (error) {
      if (saysNo(error)) return false;
      throw new TallystickError({
        code: "chain_unavailable",
        message: "The chain could not be asked whether this signature is a contract wallet's.",
        hint: "Try again later. A signature by the agent's own key needs no chain.",
        cause: error,
      });
    }
  };
}

function saysNo(error: unknown): boolean {
  return (
    error instanceof BaseError &&
    error.walk((cause) => ANSWERS_NO.some((kind) => cause instanceof kind)) !== null
  );
}
