import type { AuditReason } from "tallystick-protocol/records/auditReasons";

/** A reason quotes the work if it has this many characters in a row from the work. */
const QUOTE_LENGTH = 20;

/**
 * Removes the text of reasons that quote the work. Reasons stay in the ledger permanently, and params and results
 * must not be there. The codes of the reasons stay. Case and spaces make no difference.
 *
 * @param texts what was asked for and delivered, as JSON text
 */
export function withoutQuotes(reasons: readonly AuditReason[], texts: readonly string[]): AuditReason[] {
  const plain = texts.map(plainOf);
  return reasons.map(({ code, detail }) => {
    const words = plainOf(detail);
    for (let at = 0; at + QUOTE_LENGTH <= words.length; at++) {
      const run = words.slice(at, at + QUOTE_LENGTH);
      if (plain.some((text) => text.includes(run))) return { code, detail: "" };
    }
    return { code, detail };
  });
}

function plainOf(text: string): string {
  return text.toLowerCase().replace(/\s|\\[nrt]/g, "");
}
