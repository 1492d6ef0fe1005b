import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import type { VerifiedLedger } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import type { LedgerPart, VerifiedPart } from "./ledgerPartWorker.ts";
import { sha256ByWasm } from "./sha256ByWasm.ts";

/** Bytes of a part. */
const PART_BYTES = 4 << 20;

/** The parts that a worker has at a time. While the worker verifies one part, the browser reads the next parts. */
const AT_ONCE = 3;

/** How many bytes after the planned end of a part are searched for the end of a line. */
const MAX_LINE_BYTES = 1 << 17;

/**
 * The smallest file for several workers. For smaller files one worker has finished before others have
 * started.
 */
const MIN_BYTES = 2 * PART_BYTES;

const MAX_WORKERS = 8;
const NEWLINE = 0x0a;

/** Thrown when a line is bad or not canonical, or a worker fails. Then the file is read line by line. */
class DoubtfulLedger extends Error {}

/**
 * Verifies the file of a ledger on all cores: every line, the chain of hashes and the Merkle root. Memory
 * does not grow with the file.
 * @returns null when the file is too small, a line is bad or not canonical, or there are no workers for it. Then the
 * caller reads the file line by line
 */
export async function verifyLedgerInParts(
  file: Blob,
  onProgress: (share: number) => void,
): Promise<(VerifiedLedger & { workers: number }) | null> {
  const count = Math.min(globalThis.navigator?.hardwareConcurrency ?? 1, MAX_WORKERS);
  if (typeof Worker === "undefined" || count < 2 || file.size < MIN_BYTES) return null;
  const workers = Array.from(
    { length: count },
    () => new Worker(new URL("./ledgerPartWorker.ts", import.meta.url), { type: "module" }),
  );
  try {
    return { ...(await assemble(file, workers, onProgress)), workers: count };
  } catch (error) {
    if (error instanceof DoubtfulLedger) return null;
    throw error;
  } finally {
    for (const worker of workers) worker.terminate();
  }
}

async function assemble(
  file: Blob,
  workers: readonly Worker[],
  onProgress: (share: number) => void,
): Promise<VerifiedLedger> {
  const frontier = new MerkleFrontier(await sha256ByWasm());
  const take = cutter(file);
  /** Results of parts that wait for earlier parts. */
  const verified = new Map<number, LedgerPart & { end: number }>();
  let [head, joined] = [GENESIS_HASH, 0];
  const join = () => {
    for (let part = verified.get(joined); part !== undefined; part = verified.get(joined)) {
      // The chain is broken between two parts.
      if (part.parent !== head) throw new DoubtfulLedger();
      verified.delete(joined++);
      const { leaves } = part;
      for (let at = 0; at < leaves.length; at += 32) frontier.append(leaves.slice(at, at + 32));
      head = part.head;
      onProgress(part.end / file.size);
    }
  };
  const verifyNext = async (ask: Ask): Promise<void> => {
    for (let part = await take(); part !== null; part = await take()) {
      const found = await ask(part.number, file.slice(part.start, part.end));
      if (found === null) throw new DoubtfulLedger();
      verified.set(part.number, { ...found, end: part.end });
      join();
    }
  };
  await Promise.all(
    workers.flatMap((worker) => {
      const ask = askerOf(worker);
      return Array.from({ length: AT_ONCE }, () => verifyNext(ask));
    }),
  );
  return { size: frontier.size, head, root: frontier.root() };
}

type Cut = { number: number; start: number; end: number };

/** Gives the parts of a file one after the other, cut at the ends of lines; null at the end of the file. */
function cutter(file: Blob): () => Promise<Cut | null> {
  let [number, at] = [0, 0];
  const cut = async (): Promise<Cut | null> => {
    if (at >= file.size) return null;
    const start = at;
    at = await lineEnd(file, Math.min(start + PART_BYTES, file.size));
    return { number: number++, start, end: at };
  };
  let last: Promise<Cut | null> = Promise.resolve(null);
  return () => {
    last = last.then(cut);
    return last;
  };
}

/** The offset after the first line that ends at `from` or later. */
async function lineEnd(file: Blob, from: number): Promise<number> {
  const bytes = new Uint8Array(await file.slice(from - 1, from - 1 + MAX_LINE_BYTES).arrayBuffer());
  const at = bytes.indexOf(NEWLINE);
  if (at === -1) throw new DoubtfulLedger();
  return from + at;
}

type Ask = (number: number, part: Blob) => Promise<LedgerPart | null>;

/** Gives parts to a worker, and waits for its results. They may come in another order. */
function askerOf(worker: Worker): Ask {
  const waiting = new Map<number, PromiseWithResolvers<LedgerPart | null>>();
  let isBroken = false;
  worker.onmessage = ({ data }: { data: VerifiedPart }) => {
    waiting.get(data.number)?.resolve(data.part);
    waiting.delete(data.number);
  };
  // The program of a worker may not be available. Then the caller's thread reads the file alone.
  worker.onerror = () => {
    isBroken = true;
    for (const { reject } of waiting.values()) reject(new DoubtfulLedger());
  };
  return (number, part) => {
    if (isBroken) throw new DoubtfulLedger();
    const answer = Promise.withResolvers<LedgerPart | null>();
    waiting.set(number, answer);
    worker.postMessage({ number, part });
    return answer.promise;
  };
}
