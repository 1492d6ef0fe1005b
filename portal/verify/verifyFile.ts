import { type Finding, fails } from "./check.ts";
import { fileKindOf } from "./fileKind.ts";

/** The number of bytes that are read to find the kind of a file. */
const BEGIN = 1 << 16;

/** The most bytes of a proof or a record, which is read as a whole. */
const MAX_TEXT_BYTES = 16 << 20;

/**
 * Verifies a file of any kind. Nothing of it leaves the browser.
 *
 * @param keysText keys that the reader trusts, in the form of {@link readKeys}; may be empty
 */
export async function verifyFile(
  file: Blob,
  keysText: string,
  onProgress: (share: number) => void,
): Promise<Finding> {
  const kind = fileKindOf(await file.slice(0, BEGIN).text());
  if (kind === "ledger") {
    const { verifyLedgerFile } = await import("./verifyLedgerFile.ts");
    return await verifyLedgerFile(file, onProgress);
  }
  if (kind === "log") {
    const { verifyLogFile } = await import("./verifyLogFile.ts");
    return await verifyLogFile(file, onProgress);
  }
  if (kind === "unknown" || file.size > MAX_TEXT_BYTES) {
    return {
      title: "Not a file that can be verified here",
      checks: [
        fails(
          "This is no ledger, event log, proof, checkpoint, trust report or signed record",
          "Each line of a ledger is an entry. An event log begins with a line of kind params. .proof files, reports and records are JSON.",
        ),
      ],
    };
  }
  const text = await file.text();
  if (kind === "record") return (await import("./verifyRecordFile.ts")).verifyRecordFile(text);
  const { readKeys, unreadable } = await import("./verifyKeys.ts");
  let keys: ReturnType<typeof readKeys>;
  try {
    keys = readKeys(keysText);
  } catch (error) {
    return unreadable("The keys that you gave", "They cannot be read", error);
  }
  if (kind === "proof") return (await import("./verifyProofFile.ts")).verifyProofFile(text, keys);
  if (kind === "tlogProof") return (await import("./verifyTlogProofFile.ts")).verifyTlogProofFile(text, keys);
  if (kind === "report") return (await import("./verifyReportFile.ts")).verifyReportFile(text, keys);
  return (await import("./verifyCheckpointFile.ts")).verifyCheckpointFile(text, keys);
}
