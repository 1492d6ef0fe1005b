import type pg from "pg";
import type { KeptPayment, PaymentStore } from "./api/insights/paymentStore.ts";
import { logWarning } from "./ponderProcess.ts";

const TABLE = "ops.insights_payments";

/**
 * A payment is read for an hour of the database's clock, and stays longer than a request takes. Otherwise a payment that is
 * verified in its last seconds could be gone when it is settled, and count as a new one of which nobody knows anything.
 */
const READ_FOR = "interval '1 hour'";
const KEPT_FOR = "interval '1 hour 5 minutes'";

const FIELDS = 'request, was_unused AS "wasUnused", attempts, answers, settled';

/** The SQL that makes the table. */
export const CREATE_KEPT_PAYMENTS = `
  CREATE TABLE IF NOT EXISTS ${TABLE} (
    payment text PRIMARY KEY,
    request text NOT NULL,
    was_unused boolean NOT NULL,
    attempts integer NOT NULL DEFAULT 1,
    answers integer NOT NULL DEFAULT 0,
    settled jsonb,
    since timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX IF NOT EXISTS insights_payments_since ON ${TABLE} (since)`;

/**
 * The payments for insights, which the indexer and all replicas on one database share.
 *
 * @param ready resolves when the table is there
 */
export function keptPayments(pool: pg.Pool, ready: () => Promise<unknown>): PaymentStore {
  const query = async (sql: string, values: unknown[] = []) => {
    try {
      await ready();
      return await pool.query(sql, values);
    } catch (error) {
      logWarning({ msg: "Could not use the payments for insights in the ops schema", cause: String(error) });
      throw error;
    }
  };
  return {
    read: async (key) => {
      const { rows } = await query(
        `SELECT ${FIELDS} FROM ${TABLE} WHERE payment = $1 AND since > clock_timestamp() - ${READ_FOR}`,
        [key],
      );
      return rows[0] && keptPayment(rows[0]);
    },
    begin: async (key, { request, wasUnused }) => {
      await query(
        `DELETE FROM ${TABLE} WHERE payment IN (SELECT payment FROM ${TABLE}
           WHERE since <= clock_timestamp() - ${KEPT_FOR} FOR UPDATE SKIP LOCKED)`,
      );
      const { rows } = await query(
        `INSERT INTO ${TABLE} AS kept (payment, request, was_unused) VALUES ($1, $2, $3)
         ON CONFLICT (payment) DO UPDATE SET attempts = kept.attempts + 1 RETURNING ${FIELDS}`,
        [key, request, wasUnused],
      );
      return keptPayment(rows[0]);
    },
    settle: async (key, { request, wasUnused }, settled) => {
      await query(
        `INSERT INTO ${TABLE} AS kept (payment, request, was_unused, settled) VALUES ($1, $2, $3, $4)
         ON CONFLICT (payment) DO UPDATE SET settled = coalesce(kept.settled, excluded.settled)`,
        [key, request, wasUnused, JSON.stringify(settled)],
      );
    },
    countAnswer: async (key, most) => {
      const { rowCount } = await query(
        `UPDATE ${TABLE} SET answers = answers + 1 WHERE payment = $1 AND answers < $2`,
        [key, most],
      );
      return rowCount === 1;
    },
    forget: async (key, attempts) => {
      await query(
        `DELETE FROM ${TABLE} WHERE payment = $1 AND settled IS NULL AND attempts <= coalesce($2, attempts)`,
        [key, attempts ?? null],
      );
    },
  };
}

function keptPayment({
  settled,
  ...row
}: KeptPayment & { settled: KeptPayment["settled"] | null }): KeptPayment {
  return settled ? { ...row, settled } : row;
}
