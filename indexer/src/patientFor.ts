import type { Context } from "ponder:registry";
import { sql } from "ponder";
import { createPublicClient, http } from "viem";
import { config } from "../environment.ts";
import type { BlockAt } from "../logPort/logPort.ts";
import { logInfo, logWarning, shutdownSignal } from "../ponderProcess.ts";
import { OrphanedError, type Patient } from "../relevant/patient.ts";
import { patiently, type Waiting } from "./segments/patiently.ts";

/** A long history is read in steps, and none of them takes longer than this. */
const DEADLINE_MS = 600_000;

/** What is told while something is waited for. */
type Told = Pick<Waiting, "onBlocked" | "onUnblocked">;

/** How a handler waits, for as long as the block that it runs for stands. */
export function waitingFor(db: Context["db"], { block, hash }: BlockAt, told: Told): Waiting {
  // Not Ponder's client: that one answers from its cache.
  const chain = createPublicClient({ transport: http(config.rpcUrl, { retryCount: 0 }) });
  return {
    ...told,
    signal: shutdownSignal(),
    isCanonical: async () => (await chain.getBlock({ blockNumber: BigInt(block) })).hash === hash,
    // Ponder's transaction stays open meanwhile, and Postgres ends one that is idle for an hour.
    keepAlive: async () => void (await db.sql.execute(sql`SELECT 1`)),
  };
}

/** Reads logs for a block until they are there. */
export function patientFor(db: Context["db"], head: BlockAt): Patient {
  const { block } = head;
  const waiting = waitingFor(db, head, {
    onBlocked: async ({ attempts, reason }) => {
      // Powers of two: seldom enough for a log that is read, often enough for one that is searched.
      if (Math.log2(attempts) % 1 !== 0) return;
      logWarning({ msg: "Waiting for logs of the token", block, attempts, reason });
    },
    onUnblocked: async () => logInfo({ msg: "Stopped waiting for logs of the token", block }),
  });
  const call = { signal: waiting.signal, deadlineMs: DEADLINE_MS };
  return async (work) => {
    const done = await patiently(() => work(call), waiting);
    if (done === null) throw new OrphanedError(block);
    return done.result;
  };
}
