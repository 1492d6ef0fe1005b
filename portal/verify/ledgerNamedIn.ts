/** The beginning of a file in which a record is looked for. A ledger's first records are its operator's parameters. */
const BEGIN = 1 << 20;

const UNBOUND = ["listing", "receipt"];

/**
 * The id of the ledger that the first bound record of a ledger file names; undefined if none of the first ones does.
 * It is the file's word, to be compared with the node's.
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
