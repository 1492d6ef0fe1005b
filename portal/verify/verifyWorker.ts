import type { Finding } from "./check.ts";
import { fails } from "./check.ts";
import type { ToldEntry } from "./verifyEntry.ts";
import type { Tree } from "./verifyHead.ts";
import type { Claim } from "./verifyNode.ts";

/** A job for the worker. */
export type VerifyJob =
  | { kind: "file"; file: Blob; keys: string }
  | { kind: "ledger"; url: string; ledger: string; heads: Tree[] }
  | { kind: "entry"; entry: ToldEntry; line: string }
  | { kind: "node"; url: string; claim: Claim | null; finalFrom: number };

/** A message of the worker: the progress from 0 to 1, and at the end the result. */
export type VerifyWord = { kind: "progress"; share: number } | { kind: "done"; finding: Finding };

const scope = globalThis as unknown as {
  postMessage: (word: VerifyWord) => void;
  addEventListener: (type: "message", listener: (event: { data: VerifyJob }) => void) => void;
};

/** The shortest time between two progress messages, in milliseconds. */
const EVERY_MS = 100;

async function run(job: VerifyJob): Promise<Finding> {
  let told = 0;
  const onProgress = (share: number) => {
    const now = performance.now();
    if (now - told < EVERY_MS) return;
    told = now;
    scope.postMessage({ kind: "progress", share });
  };
  try {
    if (job.kind === "file")
      return await (await import("./verifyFile.ts")).verifyFile(job.file, job.keys, onProgress);
    if (job.kind === "ledger")
      return await (await import("./verifyLedgerOfNode.ts")).verifyLedgerOfNode(job, onProgress);
    if (job.kind === "entry") return (await import("./verifyEntry.ts")).verifyEntry(job.entry, job.line);
    return await (await import("./verifyNode.ts")).verifyNode(job.url, job.claim, onProgress, job.finalFrom);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    return {
      title: "The verification ended early",
      checks: [fails("This page made a mistake, or was cut off", text)],
    };
  }
}

scope.addEventListener(
  "message",
  ({ data }) => void run(data).then((finding) => scope.postMessage({ kind: "done", finding })),
);
