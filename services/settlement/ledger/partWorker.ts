// The thread of verifyInParts: it verifies parts of a ledger's file, one after the other.
import { closeSync, openSync, readSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { CanonicalChain } from "tallystick-protocol/ledger/canonicalChain";
import { MerkleRange } from "tallystick-protocol/merkle/merkleRange";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import type { PartMessage, PartOrder } from "./verifyInParts.ts";

const NEWLINE = 0x0a;

/** The position at which a canonical line has the hash of the entry before it. */
const PARENT_AT = `{"current_hash": "${"0".repeat(64)}", "parent_hash": "`.length;

const { file } = workerData as { file: string };
const tell = (message: PartMessage): void => parentPort?.postMessage(message);
const orders: PartOrder[] = [];
let wake: (() => void) | undefined;
parentPort?.on("message", (order: PartOrder) => {
  orders.push(order);
  wake?.();
});

async function next(): Promise<PartOrder> {
  while (orders.length === 0) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  return orders.shift() as PartOrder;
}

/** Every part uses this buffer again, because memory outside of the heap is freed late. */
let buffer = Buffer.alloc(0);
let leaves = new Uint8Array(0);

/** The bytes of a part, valid until the next part is read; undefined when the file ends before it. */
function read(start: number, end: number): Buffer | undefined {
  if (end - start > buffer.length) buffer = Buffer.allocUnsafeSlow(end - start);
  const bytes = buffer.subarray(0, end - start);
  const handle = openSync(file, "r");
  try {
    for (let at = 0; at < bytes.length; ) {
      const count = readSync(handle, bytes, at, bytes.length - at, start + at);
      if (count === 0) return undefined;
      at += count;
    }
    return bytes;
  } finally {
    closeSync(handle);
  }
}

function countLines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/** Verifies a part, and stores its leaves in {@link leaves}; undefined when a line is bad or doubtful. */
function verify(bytes: Buffer, lines: number): { parent: string; head: string } | undefined {
  const parent = bytes.toString("latin1", PARENT_AT, PARENT_AT + 64);
  const chain = new CanonicalChain(sha256ByNode, parent);
  if (32 * lines > leaves.length) leaves = new Uint8Array(32 * lines);
  for (let at = 0, line = 0; line < lines; line++) {
    const end = bytes.indexOf(NEWLINE, at);
    const leaf = chain.next(bytes.subarray(at, end));
    if (leaf === undefined) return undefined;
    leaves.set(leaf, 32 * line);
    at = end + 1;
  }
  return { parent, head: chain.head };
}

async function work(): Promise<never> {
  for (;;) {
    const order = await next();
    if (order.kind !== "part") throw new Error("a part was expected");
    const bytes = read(order.start, order.end);
    const lines = bytes ? countLines(bytes) : 0;
    // The position of the first line becomes known while the lines are verified.
    tell({ kind: "counted", part: order.part, lines });
    const verified = bytes && verify(bytes, lines);
    const place = await next();
    if (place.kind !== "place") throw new Error("a place was expected");
    if (!verified) {
      tell({ kind: "doubtful", part: order.part });
      continue;
    }
    const range = new MerkleRange(place.first, sha256ByNode);
    for (let line = 0; line < lines; line++) range.append(leaves.slice(32 * line, 32 * line + 32));
    const { parent, head } = verified;
    const { from, to, subtrees } = range;
    tell({ kind: "verified", part: order.part, parent, head, leaves: { from, to, subtrees } });
  }
}

await work();
