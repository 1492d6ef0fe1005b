/** How many bytes of a file are searched for a record. The first records of a ledger are its operator's parameters. */
const BEGIN = 1 << 20;

/** Records of these types are not bound to a ledger. So a `ledger` in their body is not the ledger of the file. */
const UNBOUND = ["listing", "receipt"];

/**
 * The id of the ledger that the first bound record of a ledger file names; undefined if none of the first records names
 * one. The file may be wrong, so the caller compares this id with the node's.
 */
export async function ledgerNamedIn(file: Blob): Promise<string | undefined> {
  const text = await file.slice(0, BEGIN).text();
  for (const line of text.split("\n")) {
    const { type, body } = payloadOf(line);
    const { ledger } = Object(body) as { ledger?: unknown };
    if (UNBOUND.includes(String(type)) || typeof ledger !== "string") continue;
    if (/^0x[0-9a-f]{64}$/.test(ledger)) return ledger;
  }
  return undefined;
}

function payloadOf(line: string): { type?: unknown; body?: unknown } {
  try {
    return Object(Object(JSON.parse(line)).payload);
  } catch {
    return {};
  }
}
