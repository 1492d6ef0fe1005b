import { OWN_CONNECTION } from "../processes/ownConnection.ts";

/**
 * Milliseconds between two blocks without transactions. The last block's time is never further behind than
 * this.
 */
const BLOCK_MS = 5_000;

/**
 * Lets a local chain mine by itself from now on. The chain's clock is the time of its last block. Without new
 * blocks that time falls behind, and a deadline that is computed from it would pass before the hire ends.
 */
export async function followRealTime(rpcUrl: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_setIntervalMining", params: [BLOCK_MS] });
  const headers = { "content-type": "application/json", ...OWN_CONNECTION };
  const response = await fetch(rpcUrl, { method: "POST", headers, body });
  const { error } = (await response.json()) as { error?: { message: string } };
  if (error) throw new Error(`evm_setIntervalMining: ${error.message}`);
}
