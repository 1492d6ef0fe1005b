/** The kinds of files that the portal can verify. */
export type FileKind =
  | "ledger"
  | "log"
  | "proof"
  | "tlogProof"
  | "checkpoint"
  | "report"
  | "record"
  | "unknown";

/**
 * Finds the kind of a file by its first characters. The file's name is not trusted.
 *
 * @param begin the file's first characters; they must contain the whole first line of a ledger or a log
 */
export function fileKindOf(begin: string): FileKind {
  const text = begin.replace(/^\ufeff/, "").trimStart();
  const line = text.split("\n", 1)[0] ?? "";
  if (/"kind"\s*:\s*"params"/.test(line)) return "log";
  if (/"current_hash"\s*:/.test(line) && /"parent_hash"\s*:/.test(line)) return "ledger";
  if (/"format"\s*:\s*"tallystick\/proof\/v1"/.test(text)) return "proof";
  if (line === "c2sp.org/tlog-proof@v1") return "tlogProof";
  if (/^[^\n]{1,300}\n\d{1,16}\n[A-Za-z0-9+/]{43}=\n/.test(text)) return "checkpoint";
  if (text.startsWith("{") && /"trust_report"\s*:/.test(text)) return "report";
  if (text.startsWith("{") && /"body"\s*:/.test(text) && /"signature"\s*:/.test(text)) return "record";
  return "unknown";
}
