import { readBytes } from "tallystick-runtime/http/readBytes";
import type { AnchoringConfig } from "../config.ts";

/** How long the chain may take to answer, in milliseconds. */
const ANSWER_MS = 3_000;

/** The largest answer that is read, in bytes. A block with the hashes of its transactions is smaller. */
const MAX_BYTES = 16 << 20;

/**
 * Whether the chain answers now, is the right one, and agrees with this machine's clock. A machine that stands by asks
 * this: without the chain it could not write either.
 *
 * @param now unix seconds
 */
export async function chainAnswersNow(
  { rpcUrl, chainId, clockLimitSeconds }: Pick<AnchoringConfig, "rpcUrl" | "chainId" | "clockLimitSeconds">,
  now: () => number,
): Promise<boolean> {
  const ask = async (method: string, params: unknown[]): Promise<unknown> => {
    const answer = await fetch(rpcUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const bytes = await readBytes(answer, MAX_BYTES);
    if (bytes === undefined) throw new Error(`RPC_URL answers with more than ${MAX_BYTES} bytes`);
    return Object(JSON.parse(bytes.toString())).result;
  };
  if (Number(await ask("eth_chainId", [])) !== chainId) return false;
  const { timestamp } = Object(await ask("eth_getBlockByNumber", ["latest", false])) as {
    timestamp?: unknown;
  };
  if (typeof timestamp !== "string") return false;
  return clockLimitSeconds === 0 || Math.abs(now() - Number(timestamp)) <= clockLimitSeconds;
}
