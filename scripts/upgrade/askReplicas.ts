import pg from "pg";
import { createQueryClient } from "tallystick-sdk/query/createQueryClient";
import { lookAgain } from "./lookAgain.ts";
import type { UpgradeSession } from "./openUpgradeSession.ts";

/** The answer of one replica: the tick of its data. */
export type ReplicaAnswer = { url: string; block: number; digest: string };

const WITHIN_MS = 60_000;

/**
 * Asks all replicas until each of them gives the digest that the new schema has at the replica's block.
 *
 * @param urls of replicas, or of the balancer in front of them. If there are none, the views in the database are asked
 * @throws TallystickError `wait_timeout` when a replica does not give it in time
 */
export async function askReplicas(
  { query }: UpgradeSession,
  schemas: { next: string; views: string },
  urls: readonly string[],
  { signal, withinMs = WITHIN_MS }: { signal: AbortSignal; withinMs?: number | undefined },
): Promise<ReplicaAnswer[]> {
  const places = urls.length === 0 ? [undefined] : urls;
  return Promise.all(
    places.map((url) => {
      const ask = url === undefined ? () => throughViews(query, schemas.views) : () => status(url);
      return lookAgain(
        async () => {
          const answer = await ask();
          if (answer === undefined) return undefined;
          const { rows } = await query(
            `SELECT 1 FROM ${pg.escapeIdentifier(schemas.next)}.digest WHERE id = lpad($1, 12, '0') AND digest = $2`,
            [String(answer.block), answer.digest],
          );
          return rows.length > 0 ? { url: url ?? schemas.views, ...answer } : undefined;
        },
        {
          what: `${url ?? schemas.views} to answer from ${schemas.next}`,
          withinMs,
          everyMs: 250,
          signal,
        },
      );
    }),
  );
}

type Tick = { block: number; digest: string };

async function throughViews(query: UpgradeSession["query"], views: string): Promise<Tick | undefined> {
  const { rows } = await query(
    `SELECT block, digest FROM ${pg.escapeIdentifier(views)}.state WHERE digest IS NOT NULL`,
  );
  return rows[0] && { block: Number(rows[0].block), digest: rows[0].digest };
}

async function status(url: string): Promise<Tick | undefined> {
  try {
    const { meta } = await createQueryClient({ baseUrl: url }).graphql.status();
    return meta.digest === null ? undefined : { block: meta.block, digest: meta.digest };
  } catch {
    // The replica does not answer now. The time limit of the wait ends the attempts.
    return undefined;
  }
}
