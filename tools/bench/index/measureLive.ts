import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { BenchChain } from "./benchChain.ts";
import { createFastSigner } from "./fastSigner.ts";
import { SCHEMA } from "./readChain.ts";
import { createWorld, SECONDS_PER_BLOCK, type WorldSize, type WorldTransfer } from "./world.ts";

const TRANSFERS_A_BLOCK = 60;
/** A chain with a block every second. */
const BLOCK_MS = 1_000;
const EVERY_MS = 10;
const PATIENCE_MS = 60_000;

/**
 * Milliseconds from the making of a block until its last transfer is in the node's log: the median and the 99th percentile.
 * Each transfer goes to an agent.
 */
export async function measureLive(
  chain: BenchChain,
  databaseUrl: string,
  size: WorldSize,
  blocks: number,
): Promise<{ p50: number; p99: number }> {
  const { agents } = createWorld(size, await createFastSigner());
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const taken: number[] = [];
    for (let block = 0; block < blocks; block++) {
      const transfers = Array.from({ length: TRANSFERS_A_BLOCK }, (_, n): WorldTransfer => {
        const at = block * TRANSFERS_A_BLOCK + n;
        const to = agents[(at * 7_919) % agents.length]?.address ?? "0x";
        return {
          from: `0x${at.toString(16).padStart(40, "b")}`,
          to,
          value: 1_000 + n,
          authorized: n % 3 === 0,
        };
      });
      const tx = await chain.transfers(transfers);
      const began = performance.now();
      await chain.mine(chain.time() + SECONDS_PER_BLOCK);
      await untilLogged(client, tx, began);
      const took = performance.now() - began;
      taken.push(took);
      await sleep(Math.max(0, BLOCK_MS - took));
    }
    taken.sort((a, b) => a - b);
    const at = (share: number) => taken[Math.min(taken.length - 1, Math.ceil(share * taken.length) - 1)] ?? 0;
    return { p50: at(0.5), p99: at(0.99) };
  } finally {
    await client.end();
  }
}

async function untilLogged(client: pg.Client, tx: string, began: number): Promise<void> {
  // Of the last two lines one may be the block's tick.
  const select = `SELECT json FROM ${SCHEMA}.event_log ORDER BY position DESC LIMIT 2`;
  while (performance.now() - began < PATIENCE_MS) {
    const { rows } = await client.query<{ json: string }>(select);
    if (rows.some(({ json }) => json.includes(tx))) return;
    await sleep(EVERY_MS);
  }
  throw new Error(`The transfers of ${tx} are not in the node's log after ${PATIENCE_MS} ms.`);
}
