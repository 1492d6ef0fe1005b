import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { type SettlementServer, startSettlement } from "./settlementServer.ts";
import { signReceipts } from "./signedReceipts.ts";
import { sendAll } from "./throughput.ts";

/** Durable signed receipts a second with this many clients: of one machine alone, and with a shared store. */
export type SharedRate = { clients: number; alone: number; shared: number };

/**
 * How often each is measured, in turn. The best result of each counts, because the machine may be busy with something
 * else.
 */
const ROUNDS = 3;

/** Measures both in turn on one disk. The store is a Postgres on the same disk that syncs every commit. */
export async function sharedRates(
  clients: readonly number[],
  each: number,
  say: (text: string) => void,
): Promise<SharedRate[]> {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-bench-"));
  // Postgres may run as another user than this process.
  chmodSync(folder, 0o755);
  const postgres = await startPostgres({ folder: path.join(folder, "postgres") });
  const servers: SettlementServer[] = [];
  let from = 0;
  const rate = async ({ port }: SettlementServer, count: number, receipts: number): Promise<number> => {
    const signed = await signReceipts(receipts, from);
    from += receipts;
    const start = performance.now();
    await sendAll(port, count, signed);
    return receipts / ((performance.now() - start) / 1_000);
  };
  try {
    const store = {
      CHECKPOINT_PRIVATE_KEY: `0x${"44".repeat(32)}`,
      LEDGER_STORE_KEY: `0x${"55".repeat(32)}`,
      LEDGER_STORE_URL: await postgres.createDatabase("shared"),
    };
    const alone = await startSettlement(path.join(folder, "alone"));
    const shared = await startSettlement(path.join(folder, "shared"), store);
    servers.push(alone, shared);
    const rates: SharedRate[] = [];
    for (const server of servers) await rate(server, 16, 300);
    for (const count of clients) {
      const best = { clients: count, alone: 0, shared: 0 };
      for (let round = 1; round <= ROUNDS; round++) {
        say(`${count} clients, round ${round} …`);
        best.alone = Math.max(best.alone, await rate(alone, count, each));
        best.shared = Math.max(best.shared, await rate(shared, count, each));
      }
      rates.push(best);
    }
    return rates;
  } finally {
    for (const server of servers) await server.kill();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
