import { dumpsPythonJson, type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { entryLine, GENESIS_HASH, parseEntryLine, sealEntry } from "tallystick-protocol/ledger/entry";

/** A ledger that its operator has changed afterwards. */
export type RewrittenLedger = {
  /** Which line was changed, from 1. */
  line: number;
  /** The file with that one entry changed and nothing else. */
  edited: string[];
  /** The same file with every later hash computed again, and one more entry. It is a valid chain again. */
  resealed: string[];
};

/**
 * Does what a dishonest operator could be paid for: turns the failed hire of one seller into a success. First
 * it only changes the text of the receipt. Then it also computes every later hash again.
 *
 * @param lines the ledger's lines, each a canonical entry
 */
export function rewriteLedger(lines: string[], seller: string): RewrittenLedger {
  const index = lines.findIndex((line) => isFailedReceiptOf(seller, line));
  const victim = lines[index];
  if (victim === undefined) throw new Error(`the ledger has no failed receipt of ${seller}`);
  const lie = victim
    .replace('"all_passed": false', '"all_passed": true')
    .replace('"answered": false', '"answered": true');
  const edited = lines.with(index, lie);

  const resealed = lines.slice(0, index);
  let parentHash = index === 0 ? GENESIS_HASH : parseEntryLine(lines[index - 1] as string).currentHash;
  const seal = (payload: { [key: string]: PyJson }, taskId: string, timestamp: number | bigint) => {
    const entry = sealEntry({ timestamp, taskId, parentHash, payload });
    parentHash = entry.currentHash;
    resealed.push(entryLine(entry));
  };
  for (const line of edited.slice(index)) {
    const { payload, taskId, timestamp } = parseEntryLine(line);
    seal(payload as { [key: string]: PyJson }, taskId, timestamp);
  }
  const { timestamp } = parseEntryLine(lines.at(-1) as string);
  const business = {
    type: "settlement",
    data_update: { note: "business as usual" },
    confidence_score: 1,
    agent_metadata: {},
  };
  seal(business, "demo-as-if-nothing-had-happened", timestamp);
  return { line: index + 1, edited, resealed };
}

function isFailedReceiptOf(seller: string, line: string): boolean {
  const { payload } = parsePythonJson(line) as {
    payload: { type: string; body?: { [key: string]: PyJson } };
  };
  if (payload.type !== "receipt" || payload.body?.agent_id !== seller) return false;
  return dumpsPythonJson(payload.body.verification ?? null).includes('"all_passed": false');
}
