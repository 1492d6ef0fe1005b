import { sql } from "ponder";
import type { TransferEvent } from "tallystick-derive/events";
import * as schema from "../../ponder.schema.ts";
import { positionKey } from "../../src/positionKey.ts";
import type { Database } from "../database.ts";
import { eventsAt } from "./events.ts";

/** The log of a transfer. */
export type Place = { block: number; log: number };

/** The content of a transfer's log; `value` in atomic units. */
export type TransferAt = { tx: string; from: string; value: bigint };

/** The transfers at some logs, in their order; null where there is none. All but a few are payments. */
export async function transfersAt(db: Database, places: readonly Place[]): Promise<(TransferAt | null)[]> {
  const found = await paymentsAt(db, places);
  const others = places.map(keyOf).filter((key) => !found.has(key));
  for (const [n, json] of (await eventsAt(db, others)).entries()) {
    if (json === null) continue;
    const { tx, from, value } = JSON.parse(json) as TransferEvent;
    found.set(others[n] as string, { tx, from, value: BigInt(value) });
  }
  return places.map((place) => found.get(keyOf(place)) ?? null);
}

/** The values of the transfers at some logs, in atomic units; null where there is no transfer. */
export async function transferValues(db: Database, places: readonly Place[]): Promise<(bigint | null)[]> {
  return (await transfersAt(db, places)).map((it) => it?.value ?? null);
}

async function paymentsAt(db: Database, places: readonly Place[]): Promise<Map<string, TransferAt>> {
  if (places.length === 0) return new Map();
  const [blocks, logs] = [places.map(({ block }) => block), places.map(({ log }) => log)];
  const { rows } = await db.execute<Record<"block" | "log" | "id" | "from" | "value", string>>(
    sql`SELECT payment.block, payment.log, payment.id, payment."from", payment.value
      FROM unnest(${sql.param(blocks)}::int8[], ${sql.param(logs)}::int8[]) AS wanted (block, log)
      JOIN ${schema.payment} AS payment ON payment.block = wanted.block AND payment.log = wanted.log`,
  );
  return new Map(
    rows.map(({ block, log, id, from, value }) => [
      keyOf({ block: Number(block), log: Number(log) }),
      { tx: id.slice(0, id.indexOf("/")), from, value: BigInt(value) },
    ]),
  );
}

function keyOf(place: Place): string {
  return positionKey({ kind: "transfer", ...place } as TransferEvent);
}
