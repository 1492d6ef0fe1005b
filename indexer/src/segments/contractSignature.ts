import { BaseError, encodeFunctionData, type Hex, parseAbi } from "viem";
import { isSignedBy, recordSigningHash, type SignedRecord } from "../../../protocol/records/record.ts";
import type { RecoverPublicKey } from "../../../protocol/signatures/recoverPublicKey.ts";

const erc1271Abi = parseAbi([
  "function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)",
]);
const MAGIC_VALUE = "0x1626ba7e";

/** What is asked of the chain, at the block of the anchor. Ponder's `context.client` is one. */
export type ChainReader = {
  getCode: (parameters: { address: Hex }) => Promise<Hex | undefined>;
  call: (parameters: { to: Hex; data: Hex }) => Promise<{ data?: Hex | undefined }>;
};

/**
 * Whether a contract vouches for a record's signature (ERC-1271), asked at the block of the anchor.
 *
 * @param recover how a wallet key is recovered
 * @returns undefined when a wallet key signed it, or when the signer is no contract: then the signature speaks for itself
 * @throws when the chain cannot be asked; a contract that reverts has answered no
 */
export async function contractSignature(
  chain: ChainReader,
  record: SignedRecord,
  recover?: RecoverPublicKey,
): Promise<boolean | undefined> {
  if (isSignedBy(record.body, record.signature, record.signer, recover)) return undefined;
  const code = await chain.getCode({ address: record.signer });
  if (code === undefined || code === "0x") return undefined;
  const data = encodeFunctionData({
    abi: erc1271Abi,
    functionName: "isValidSignature",
    args: [recordSigningHash(record.body), record.signature],
  });
  try {
    const answer = await chain.call({ to: record.signer, data });
    return answer.data?.slice(0, 10) === MAGIC_VALUE && answer.data.length >= 66;
  } catch (error) {
    if (isRevert(error)) return false;
    throw error;
  }
}

function isRevert(error: unknown): boolean {
  return error instanceof BaseError && error.walk((it) => isExecutionError(it)) !== null;
}

function isExecutionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  return error.name === "ExecutionRevertedError" || code === 3;
}
