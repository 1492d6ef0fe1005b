import { availableParallelism } from "node:os";
import type { FoldLogOptions } from "tallystick-derive/foldLog";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { remembered } from "tallystick-protocol/signatures/remembered";
import { SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";
import { recoverAhead } from "./recoverAhead.ts";

/**
 * Runs a derivation that recovers signers on all cores. Threads only save time: without an answer, the derivation recovers a
 * signer itself.
 */
export async function withSignatureThreads<T>(
  derive: (signers: Required<Pick<FoldLogOptions, "recover" | "ahead">>) => Promise<T>,
): Promise<T> {
  const recover = remembered(await recoverByWasm());
  const threads = new SignatureThreads({ most: availableParallelism(), onEnd: () => {} });
  try {
    return await derive({ recover, ahead: (parts) => recoverAhead(parts, threads, recover.known) });
  } finally {
    await threads.close();
  }
}
