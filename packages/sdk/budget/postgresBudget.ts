import { type Budget, budgetExceeded } from "./budget.ts";

/** The part of a Postgres client that is needed. The Pool of `pg` fits. */
export type PostgresClient = {
  query: (text: string, values?: unknown[]) => Promise<{ rows: { [column: string]: unknown }[] }>;
};

export type PostgresBudgetParameters = {
  client: PostgresClient;
  name: string;
  /** Atomic units. */
  limit: bigint;
};

const TABLES = `
  CREATE TABLE IF NOT EXISTS tallystick_budgets (
    name text PRIMARY KEY,
    taken numeric NOT NULL DEFAULT 0 CHECK (taken >= 0)
  );
  CREATE TABLE IF NOT EXISTS tallystick_reservations (
    name text NOT NULL REFERENCES tallystick_budgets,
    hire_id text NOT NULL,
    amount numeric NOT NULL,
    PRIMARY KEY (name, hire_id)
  )`;

/**
 * One statement, so it happens completely or not at all. Other reservations wait for the lock on the row, and then
 * read the row again.
 */
const RESERVE = `
  WITH taken AS (
    UPDATE tallystick_budgets SET taken = taken + $3
    WHERE name = $1 AND taken + $3 <= $4
      AND NOT EXISTS (SELECT 1 FROM tallystick_reservations WHERE name = $1 AND hire_id = $2)
    RETURNING name
  )
  INSERT INTO tallystick_reservations SELECT name, $2, $3 FROM taken RETURNING hire_id`;

const GIVE_BACK = `
  WITH back AS (DELETE FROM tallystick_reservations WHERE name = $1 AND hire_id = $2 RETURNING amount)
  UPDATE tallystick_budgets SET taken = taken - back.amount FROM back WHERE name = $1`;

/**
 * A budget in Postgres, for buyers on several machines. It is exact, because amounts are `numeric`. It creates its
 * two tables.
 */
export async function openPostgresBudget(parameters: PostgresBudgetParameters): Promise<Budget> {
  const { client, name, limit } = parameters;
  await client.query(TABLES);
  await client.query("INSERT INTO tallystick_budgets (name) VALUES ($1) ON CONFLICT DO NOTHING", [name]);

  const left = async (): Promise<bigint> => {
    const { rows } = await client.query("SELECT taken::text FROM tallystick_budgets WHERE name = $1", [name]);
    return limit - BigInt(String(rows[0]?.taken ?? 0));
  };
  return {
    reserve: async (hireId, amount) => {
      if (amount < 0n) throw new RangeError("an amount must not be negative");
      const { rows } = await client.query(RESERVE, [name, hireId, String(amount), String(limit)]);
      if (rows.length > 0) return;
      const known = await client.query(
        "SELECT amount::text FROM tallystick_reservations WHERE name = $1 AND hire_id = $2",
        [name, hireId],
      );
      if (known.rows[0]?.amount === String(amount)) return;
      throw budgetExceeded(amount, await left());
    },
    spend: async (hireId) => {
      await client.query("DELETE FROM tallystick_reservations WHERE name = $1 AND hire_id = $2", [
        name,
        hireId,
      ]);
    },
    giveBack: async (hireId) => {
      await client.query(GIVE_BACK, [name, hireId]);
    },
    remaining: left,
  };
}
