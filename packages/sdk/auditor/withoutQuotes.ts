import type { AuditReason } from "tallystick-protocol/records/auditReasons";

/** So many characters in a row of the work, and a reason quotes it. */
const QUOTE_LENGTH = 20;

/**
 * Takes the words out of reasons that quote the work: reasons stand in the ledger for good, where nothing of params and result
 * belongs. The codes stay. Letters' case and spaces make no difference.
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
