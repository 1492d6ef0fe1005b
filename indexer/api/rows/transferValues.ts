import { sql } from "ponder";
import type { TransferEvent } from "tallystick-derive/events";
import * as schema from "../../ponder.schema.ts";
import { positionKey } from "../../src/positionKey.ts";
import type { Database } from "../database.ts";
import { eventsAt } from "./events.ts";

/** The log of a transfer. */
export type Place = { block: number; log: number };

/** What was transferred there, in atomic units; null where there is no transfer. All but a few are payments. */
export async function transferValues(db: Database, places: readonly Place[]): Promise<(bigint | null)[]> {
  const values = await paymentValues(db, places);
  const others = places.map(keyOf).filter((key) => !values.has(key));
  for (const [n, json] of (await eventsAt(db, others)).entries()) {
    if (json !== null) values.set(others[n] as string, BigInt(JSON.parse(json).value));
  }
  return places.map((place) => values.get(keyOf(place)) ?? null);
}

async function paymentValues(db: Database, places: readonly Place[]): Promise<Map<string, bigint>> {
  if (places.length === 0) return new Map();
  const [blocks, logs] = [places.map(({ block }) => block), places.map(({ log }) => log)];
  const { rows } = await db.execute<{ block: string; log: string; value: string }>(
    sql`SELECT payment.block, payment.log, payment.value
      FROM unnest(${sql.param(blocks)}::int8[], ${sql.param(logs)}::int8[]) AS wanted (block, log)
      JOIN ${schema.payment} AS payment ON payment.block = wanted.block AND payment.log = wanted.log`,
  );
  return new Map(
    rows.map(({ block, log, value }) => [keyOf({ block: Number(block), log: Number(log) }), BigInt(value)]),
  );
}

function keyOf(place: Place): string {
  return positionKey({ kind: "transfer", ...place } as TransferEvent);
}
