import { NodeError } from "../node/nodeError.ts";
import { nodeUrl } from "../node/nodeUrl.ts";
import { readText } from "../node/readBytes.ts";

/** The most bytes of a line. It is more than settlement accepts. */
const MAX_BYTES = 4_000_000;

/**
 * The canonical line of an entry, as the node keeps it.
 *
 * @throws NodeError `no_line` when the node does not give it
 */
export async function askLine(ledger: string, seq: number, signal: AbortSignal): Promise<string> {
  const path = `/v1/ledger/entries?ledger=${encodeURIComponent(ledger)}&from=${seq}&to=${seq + 1}`;
  const response = await fetch(`${nodeUrl}${path}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
  const text = await readText(response, MAX_BYTES);
  const [line = ""] = text?.split("\n") ?? [];
  if (!response.ok || line === "")
    throw new NodeError({ code: "no_line", message: `The node does not give entry ${seq} of the ledger.` });
  return line;
}
