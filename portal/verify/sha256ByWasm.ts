import { createSHA256 } from "hash-wasm";
import { type Sha256, sha256ByNoble } from "tallystick-protocol/sha256";

const encoder = new TextEncoder();

/**
 * SHA-256 in WebAssembly, in about a third of the time that JavaScript takes: most of what a large ledger costs. A browser
 * can be set to run no WebAssembly; then it is JavaScript's.
 */
export async function sha256ByWasm(): Promise<Sha256> {
  try {
    const hasher = await createSHA256();
    return (data) =>
      hasher
        .init()
        .update(typeof data === "string" ? encoder.encode(data) : data)
        .digest("binary");
  } catch {
    return sha256ByNoble;
  }
}
