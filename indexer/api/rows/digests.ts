import { and, gte, lte, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { FINAL_BLOCK } from "./checkpoint.ts";
import type { RowList } from "./list.ts";

/** The digest at a tick, and the number of the tick's line in the event log. */
export type TickDigest = { block: number; time: number; digest: string; line: number };

export type DigestPage = {
  digests: TickDigest[];
  /** The block of the next final tick in the range; null if there is none. */
  next: number | null;
};

/** The number of digits of a block in the id of a digest. */
const PADDED = 12;

/** A block as the id of its tick's digest. */
const padded = (block: number) => String(Math.max(0, block)).padStart(PADDED, "0");

/**
 * The digests of the ticks in blocks [from, to], the latest first. A reorganization may still remove
 * digests above the final block.
 */
export function digestList(from?: number | null, to?: number | null): RowList<Row<"digest">> {
  const { digest } = schema;
  return {
    table: digest,
    where: and(
      from == null ? undefined : gte(digest.id, padded(from)),
      to == null ? undefined : lte(digest.id, padded(to)),
    ),
    order: [digest.id],
    direction: "desc",
  };
}

/** The digests of the final ticks in blocks [from, to]. */
export async function digestPage(
  db: Database,
  { from, to, limit }: { from: number; to?: number | undefined; limit: number },
): Promise<DigestPage> {
  const { rows } = await db.execute<Record<keyof TickDigest, string | null>>(sql`
    WITH final AS (SELECT ${FINAL_BLOCK} AS block FROM _ponder_checkpoint LIMIT 1),
    page AS (SELECT id, block, time, digest FROM digest
      WHERE id >= lpad(${from}::text, ${PADDED}, '0')
        AND id <= lpad(least((SELECT block FROM final), ${to ?? null}::bigint)::text, ${PADDED}, '0')
      ORDER BY id LIMIT ${sql.raw(String(limit + 1))})
    SELECT page.block, page.time, page.digest,
      (SELECT line FROM log_line WHERE log_line.id = page.id || '/99999999/0000000000000000') AS line
    FROM final JOIN page ON true ORDER BY page.id`);
  const found = rows.map(({ block, time, digest, line }) => ({
    block: Number(block),
    time: Number(time),
    digest: String(digest),
    line: Number(line),
  }));
  return { digests: found.slice(0, limit), next: found[limit]?.block ?? null };
}
