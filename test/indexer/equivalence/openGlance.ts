import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";

const SCHEMA = "tallystick";
const EVERY_MS = 100;
const PATIENCE_MS = 600_000;

/** Reads a node's database directly, so that the node itself has no work. */
export type Glance = Awaited<ReturnType<typeof openGlance>>;

/** Opens a connection to a node's database. The node may be dead, or may not have started. */
export async function openGlance(databaseUrl: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();

  async function until(what: string, select: string, values: unknown[]): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (performance.now() < deadline) {
      const { rows } = await client.query<{ ok: boolean }>(select, values).catch(noTableYet);
      if (rows[0]?.ok) return;
      await sleep(EVERY_MS);
    }
    throw new Error(`gave up waiting for ${what} after ${PATIENCE_MS / 1_000} s`);
  }

  return {
    /** Waits until the tick of a block, or of a later block, is derived. */
    untilTick: (block: bigint) =>
      until(`the tick of block ${block}`, `SELECT max(block) >= $1 AS ok FROM ${SCHEMA}.digest`, [block]),
    /** Waits until a block is indexed. */
    untilBlock: (block: bigint) =>
      until(
        `block ${block}`,
        `SELECT substr(latest_checkpoint, 27, 16)::bigint >= $1 AS ok FROM ${SCHEMA}._ponder_checkpoint`,
        [block],
      ),
    /** The digests of the ticks after a block. */
    digestsAfter: async (block: number): Promise<[block: number, digest: string][]> => {
      const select = `SELECT block::int, digest FROM ${SCHEMA}.digest WHERE block > $1 ORDER BY block`;
      const { rows } = await client.query<{ block: number; digest: string }>(select, [block]);
      return rows.map(({ block, digest }) => [block, digest]);
    },
    close: () => client.end(),
  };
}

/** Treats missing tables as no rows, because a node makes its tables when it starts. */
function noTableYet(error: unknown): { rows: never[] } {
  if (error instanceof pg.DatabaseError && ["42P01", "3F000"].includes(error.code ?? "")) return { rows: [] };
  throw error;
}
