import { type Finding, fails } from "./check.ts";
import { fileKindOf } from "./fileKind.ts";

/** Enough to tell what a file is. */
const BEGIN = 1 << 16;

/** A proof or a record is read as a whole; one that is longer is none. */
const MOST_TEXT = 16 << 20;

/** Verifies a file, whatever kind it is of. Nothing of it leaves the browser. */
export async function verifyFile(file: Blob, onProgress: (share: number) => void): Promise<Finding> {
  const kind = fileKindOf(await file.slice(0, BEGIN).text());
  if (kind === "ledger") {
    const { verifyLedgerFile } = await import("./verifyLedgerFile.ts");
    return await verifyLedgerFile(file, onProgress);
  }
  if (kind === "log") {
    const { verifyLogFile } = await import("./verifyLogFile.ts");
    return await verifyLogFile(file, onProgress);
  }
  if (kind === "unknown" || file.size > MOST_TEXT) {
    return {
      title: "Not a file that can be verified here",
      checks: [
        fails(
          "This is no ledger, event log, proof or signed record",
          "A ledger has an entry a line, an event log begins with a line of kind params, and proofs and records are JSON.",
        ),
      ],
    };
  }
  const text = await file.text();
  if (kind === "proof") return (await import("./verifyProofFile.ts")).verifyProofFile(text);
  return (await import("./verifyRecordFile.ts")).verifyRecordFile(text);
}
