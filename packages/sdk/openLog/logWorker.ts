import { type Snapshot, snapshotOf } from "tallystick-derive/snapshot";
import { TallystickError } from "tallystick-protocol/errors";
import { deriveNode } from "./deriveNode.ts";
import type { LogProgress } from "./nodeLog.ts";

/** The job of the worker. */
export type LogJob = {
  url: string;
  check?: boolean | undefined;
  most?: number | undefined;
  trustSignatures?: boolean | undefined;
};

/** The result of deriving a node's log, as the worker sends it. */
export type DerivedNode = {
  snapshot: Snapshot;
  events: number;
  lines: LogProgress;
  /** The number of ticks whose digest equals the node's. Null if they were not compared. */
  agreed: number | null;
  /** The records whose signer is a contract, by the word of the log. Their signatures were not checked. */
  contractSigned: number;
};

/** A message of the worker: its progress, and at the end its result or its error. */
export type LogMessage =
  | { kind: "progress"; progress: LogProgress }
  | { kind: "derived"; derived: DerivedNode }
  | { kind: "failed"; code: string; message: string; hint: string | undefined };

/** The program of a browser's worker: derives a node's log for the one job that it is given. */
const scope = globalThis as unknown as {
  postMessage: (message: LogMessage) => void;
  addEventListener: (type: "message", listener: (event: { data: LogJob }) => void) => void;
};

async function derive({ url, ...options }: LogJob): Promise<LogMessage> {
  try {
    const { store, events, lines, agreed, contractSigned } = await deriveNode(url, {
      ...options,
      onProgress: (progress) => scope.postMessage({ kind: "progress", progress }),
    });
    return {
      kind: "derived",
      derived: { snapshot: snapshotOf(store), events, lines, agreed, contractSigned },
    };
  } catch (error) {
    const { code, hint } =
      error instanceof TallystickError ? error : { code: "derivation_failed", hint: undefined };
    return { kind: "failed", code, message: error instanceof Error ? error.message : String(error), hint };
  }
}

scope.addEventListener(
  "message",
  ({ data }) => void derive(data).then((message) => scope.postMessage(message)),
);
