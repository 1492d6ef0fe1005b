import { type DerivedLog, type FoldLogOptions, foldLog } from "tallystick-derive/foldLog";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";

/** Derives an event log by {@link foldLog}, with the fastest signature recovery and hashing that Node has. */
export async function deriveLog(
  texts: AsyncIterable<string>,
  options: Omit<FoldLogOptions, "recover" | "sha256Hex"> = {},
): Promise<DerivedLog> {
  return await foldLog(texts, { ...options, recover: await recoverByWasm(), sha256Hex: sha256HexByNode });
}
