import { sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { LINES_APART } from "../../src/logLines.ts";
import { transferOfPayment } from "../../src/transferOfPayment.ts";
import type { Database } from "../database.ts";
import { FINAL_BLOCK, FINAL_END } from "./checkpoint.ts";

/** Lines of the event log, and the number of the last line that is final; 0 when none is. */
export type EventPage = { lines: string[]; last: number };

/**
 * The approximate limit of a page, in bytes. A line that exceeds it is left to the next page, unless it is the
 * only line.
 */
export const MAX_PAGE_BYTES = 4 << 20;

/** The shortest possible line of a transfer, in bytes. */
const MIN_TRANSFER_BYTES = 300;

/** Converts a position of the log to block and log index, as `payment` stores them. */
const blockAndLog = (id: ReturnType<typeof sql>) =>
  sql`((SELECT substr(id, 1, 12)::bigint FROM ${id}), (SELECT substr(id, 14, 8)::bigint - 1 FROM ${id}))`;

/**
 * Whether rows of `payment` replace the lines of their transfers. In a relevant log they do not. There a payment may
 * have no line, and a transfer that is a line is stored as a line.
 */
const HAS_PAYMENTS = sql`(SELECT form FROM state) IS DISTINCT FROM 'relevant'`;

/** A payment's position. */
const paymentPosition = sql`lpad(block::text, 12, '0') || '/' || lpad((log + 1)::text, 8, '0') || '/0000000000000000'`;

/**
 * The final lines after line `after`, as `tallystick export` writes them. A page before the last page never changes,
 * and every node with the same log gives the same page. The search starts at the nearest line whose number is stored,
 * so the last page costs as much as the first. It is one SQL statement, so the page shows one state of the database.
 *
 * @param page.limit lines at most; fewer when they are long
 */
export async function eventPage(
  db: Database,
  token: Address,
  { after, limit }: { after: number; limit: number },
): Promise<EventPage> {
  const first = sql`${after + 1}::bigint`;
  const beyond = sql`${after + limit}::bigint`;
  const most = sql.raw(String(LINES_APART + limit));
  const { rows } = await db.execute<PageRow>(sql`
    WITH final AS (SELECT ${FINAL_BLOCK} AS block, ${FINAL_END} AS bound FROM _ponder_checkpoint LIMIT 1),
    low AS (SELECT id, line FROM log_line WHERE line <= ${first} ORDER BY line DESC LIMIT 1),
    top AS (SELECT id, line FROM log_line WHERE id < (SELECT bound FROM final) ORDER BY id DESC LIMIT 1),
    length AS (SELECT coalesce((SELECT line FROM top) - 1
      + (SELECT count(*) FROM event_log
          WHERE position >= (SELECT id FROM top) AND position < (SELECT bound FROM final))
      + (SELECT count(*) FROM payment
          WHERE ${HAS_PAYMENTS} AND (block, log) >= ${blockAndLog(sql`top`)} AND block <= (SELECT block FROM final)), 0) AS last),
    found AS (
      (SELECT position, octet_length(json) AS bytes, NULL::text AS id, NULL::bigint AS block, NULL::bigint AS time,
          NULL::bigint AS log, NULL::text AS "from", NULL::text AS "to", NULL::numeric AS value, NULL::boolean AS authorized
        FROM event_log WHERE position >= (SELECT id FROM low) AND position < (SELECT bound FROM final)
        ORDER BY position LIMIT ${most})
      UNION ALL
      (SELECT ${paymentPosition}, ${sql.raw(String(MIN_TRANSFER_BYTES))}, id, block, time, log, "from", "to", value, authorized
        FROM payment WHERE ${HAS_PAYMENTS} AND (block, log) >= ${blockAndLog(sql`low`)} AND block <= (SELECT block FROM final)
        ORDER BY block, log LIMIT ${most})),
    numbered AS (SELECT *, (SELECT line FROM low) - 1 + row_number() OVER (ORDER BY position) AS line FROM found),
    page AS (SELECT *, sum(bytes) OVER (ORDER BY line) - bytes AS before FROM numbered
      WHERE line >= ${first} AND line <= ${beyond})
    SELECT length.last, page.*,
      CASE WHEN page.id IS NULL THEN (SELECT json FROM event_log WHERE event_log.position = page.position) END AS json
    FROM length LEFT JOIN page ON before < ${sql.raw(String(MAX_PAGE_BYTES))}::bigint ORDER BY page.line`);
  const last = Number(rows[0]?.last ?? 0);
  const lines = rows.filter(({ position }) => position !== null).map((row) => lineOf(row, token));
  return { lines: asFarAsTheyFit(lines), last };
}

type PageRow = { last: string; position: string | null; json: string | null } & Record<
  keyof Row<"payment">,
  never
>;

function lineOf(row: PageRow, token: Address): string {
  if (row.json !== null) return row.json;
  const { id, block, time, log, from, to, value, authorized } = row;
  const place = { block: Number(block), time: Number(time), log: Number(log) };
  return JSON.stringify(transferOfPayment({ id, ...place, from, to, value, authorized }, token));
}

/**
 * Cuts the page by the real bytes of its lines, so that every node cuts it at the same line, however it stores
 * them.
 */
function asFarAsTheyFit(lines: string[]): string[] {
  let bytes = 0;
  const end = lines.findIndex((line, n) => {
    bytes += Buffer.byteLength(line) + 1;
    return bytes > MAX_PAGE_BYTES && n > 0;
  });
  return end < 0 ? lines : lines.slice(0, end);
}
