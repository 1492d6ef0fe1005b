import { LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";

/** An open write gate, and its log. */
export function openGate(): { gate: LedgerGate; said: string[] } {
  const said: string[] = [];
  const gate = new LedgerGate((sentence, fields) => said.push(`${sentence} ${fields?.code ?? ""}`.trim()));
  return { gate, said };
}

/** The code of the error that an action throws; "none" if it succeeds. */
export function codeOf(action: () => void): string {
  try {
    action();
    return "none";
  } catch (error) {
    return (error as { code: string }).code;
  }
}
