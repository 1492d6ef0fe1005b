import { LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";

/** A gate that nobody has closed, and what it says. */
export function openGate(): { gate: LedgerGate; said: string[] } {
  const said: string[] = [];
  const gate = new LedgerGate((sentence, fields) => said.push(`${sentence} ${fields?.code ?? ""}`.trim()));
  return { gate, said };
}

/** The code of what an action throws; "none" when it goes through. */
export function codeOf(action: () => void): string {
  try {
    action();
    return "none";
  } catch (error) {
    return (error as { code: string }).code;
  }
}
