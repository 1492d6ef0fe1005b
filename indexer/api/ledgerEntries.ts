import { Hono } from "hono";
import type { Hex } from "tallystick-protocol/hex";
import { entryRange } from "tallystick-runtime/http/entryRange";
import { readKeptLines } from "../keptLines.ts";
import { chargeLines } from "./chargeLines.ts";
import type { Database } from "./database.ts";
import { problem, problemResponse } from "./problem.ts";
import { keptRow } from "./rows/keptLines.ts";
import { followedLedger } from "./rows/ledgers.ts";

/** The path of the entries, which are refused while the database is away. */
export const ENTRIES_PATH = "/v1/ledger/entries";

/**
 * The most entries of one answer, and its approximate limit in bytes. For more, ask again from the end of the
 * answer.
 */
const MAX_ENTRIES = 1_024;
const MAX_BYTES = 4 << 20;

/**
 * `GET /v1/ledger/entries?ledger=&from=&to=`: the canonical lines of [from, to) of a followed ledger as
 * `application/jsonl`. It gives no lines after the last anchor, and fewer than asked for when there are many.
 * Defaults: `ledger` is the first followed ledger, `from` is 0, and `to` is the anchored size. An operator that lost
 * its copy of a ledger can restore all anchored entries from this route. A client pays for all lines that are read for
 * it: they are stored in rows, and a row is read as a whole. HEAD reads no lines.
 *
 * @param ids the ledgers that the node follows
 */
export function ledgerEntries(db: Database, ids: readonly Hex[]): Hono {
  const app = new Hono();
  app.onError(problemResponse);
  app.get(ENTRIES_PATH, async ({ req, env }) => {
    const id = (req.query("ledger")?.toLowerCase() ?? ids[0]) as Hex | undefined;
    if (id === undefined || !ids.includes(id)) {
      const hint = ids.length === 0 ? "It follows none." : `It follows ${ids.slice(0, 10).join(", ")}.`;
      return problem(404, "unknown_ledger", "This node does not follow that ledger.", { hint });
    }
    // Lines are stored separately from the rows. If the ledger's state is the same before and after reading,
    // the lines belong to its root. A reader checks this: if a copy could not be written after a reorganization, older
    // lines may be there.
    for (let attempt = 0; attempt < 3; attempt++) {
      const { size, root } = await anchoredHead(db, id);
      const query = { from: req.query("from"), to: req.query("to") };
      const [from, to] = entryRange(query, size, "the anchored size");
      const headers = { "content-type": "application/jsonl", "x-ledger-size": String(size) };
      if (req.method === "HEAD") return new Response(null, { headers });
      const found = await readKeptLines(
        (part) => keptRow(db, id, part),
        { from, to: Math.min(to, from + MAX_ENTRIES), maxBytes: MAX_BYTES },
        (row) => chargeLines(env, row),
      );
      if ((await anchoredHead(db, id)).root !== root) continue;
      if (found.length === 0 && to > from) {
        return problem(503, "entries_missing", `Entry ${from} is not kept here.`, {
          hint: "Ask another follower, or the settlement service itself.",
        });
      }
      return new Response(found.map((line) => `${line}\n`).join(""), { headers });
    }
    return problem(503, "not_ready", "The ledger is changing now; ask again.");
  });
  return app;
}

async function anchoredHead(db: Database, id: Hex): Promise<{ size: number; root: string }> {
  return (await followedLedger(db, id)) ?? { size: 0, root: "" };
}
