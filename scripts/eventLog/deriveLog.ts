import { type DerivedLog, type FoldLogOptions, foldLog } from "tallystick-derive/foldLog";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import { withSignatureThreads } from "./withSignatureThreads.ts";

/**
 * Derives an event log by {@link foldLog}, with the fastest hashing that Node has, and with signatures recovered on all
 * cores.
 */
export async function deriveLog(
  texts: AsyncIterable<string>,
  options: Omit<FoldLogOptions, "recover" | "sha256Hex" | "ahead"> = {},
): Promise<DerivedLog> {
  const fold = { ...options, sha256Hex: sha256HexByNode };
  if (options.trustSignatures) return await foldLog(texts, fold);
  return await withSignatureThreads(async (signers) => await foldLog(texts, { ...fold, ...signers }));
}
