import { type DerivedLog, type FoldLogOptions, foldLog } from "tallystick-derive/foldLog";
import { checkDigests } from "./checkDigests.ts";
import { type LogProgress, type NodeLogOptions, nodeLog } from "./nodeLog.ts";

export type DeriveNodeOptions = Omit<NodeLogOptions, "onTick"> &
  FoldLogOptions & {
    /** Compare the digest at every tick with what the node says. */
    check?: boolean | undefined;
  };

/** The result of deriving a node's log. */
export type NodeDerivation = DerivedLog & {
  lines: LogProgress;
  /** The number of ticks whose digest equals the node's: all of them. Null if they were not compared. */
  agreed: number | null;
};

/**
 * Reads a node's event log by HTTP and derives all of it again, in Node and in browsers. Nothing else that the
 * node says is believed.
 *
 * @throws TallystickError `digest_differs` with the first tick that differs; those of {@link nodeLog} and {@link foldLog}
 */
export async function deriveNode(url: string, options: DeriveNodeOptions = {}): Promise<NodeDerivation> {
  const { check = false, keep, most, signal, onProgress, ...fold } = options;
  const ticks = new Map<number, number>();
  let lines: LogProgress = { kept: 0, fetched: 0, last: 0 };
  const texts = nodeLog(url, {
    keep,
    most,
    signal,
    onTick: ({ block, line }) => ticks.set(block, line),
    onProgress: (progress) => {
      lines = progress;
      onProgress?.(progress);
    },
  });
  const derived = await foldLog(texts, { ...fold, recover: fold.recover ?? (await fastestRecovery()) });
  const agreed = check ? await checkDigests(url, derived.store, ticks, signal) : null;
  return { ...derived, lines, agreed };
}

/** Loaded only when a log is derived, because it is large for a page. */
async function fastestRecovery() {
  const { recoverByWasm } = await import("tallystick-protocol/signatures/recoverByWasm");
  return await recoverByWasm();
}
