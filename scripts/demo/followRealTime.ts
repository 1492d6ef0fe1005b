/** Milliseconds between two blocks that nobody's transaction asked for: how far the last one's time can fall behind. */
const BLOCK_MS = 5_000;

/**
 * Lets a local chain mine by itself from now on. Its blocks carry its clock: without new ones the last block falls behind,
 * and a deadline that is reckoned from it is over before the hire is.
 */
export async function followRealTime(rpcUrl: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "evm_setIntervalMining", params: [BLOCK_MS] });
  const headers = { "content-type": "application/json" };
  const response = await fetch(rpcUrl, { method: "POST", headers, body });
  const { error } = (await response.json()) as { error?: { message: string } };
  if (error) throw new Error(`evm_setIntervalMining: ${error.message}`);
}
