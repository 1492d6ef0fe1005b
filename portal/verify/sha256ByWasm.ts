import { createSHA256 } from "hash-wasm";
import { type Sha256, sha256ByNoble } from "tallystick-protocol/sha256";

const encoder = new TextEncoder();

/**
 * SHA-256 in WebAssembly. It takes about a third of the time of JavaScript, and hashing is the largest cost
 * of a large ledger. If the browser does not allow WebAssembly, JavaScript is used.
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
