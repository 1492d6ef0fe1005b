import { Readable } from "node:stream";
import { Hono } from "hono";
import { toHex } from "tallystick-protocol/hex";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { positionOf } from "tallystick-runtime/http/positionOf";
import type { AppDependencies } from "../appDependencies.ts";

/**
 * Reading the ledger (swarm.at §7.1).
 *
 * - `GET /v1/ledger/latest`: `{ledger, origin, size, hash, root}`: the entries on disk, the hash of the last one (64
 *   zeros if there is none) and the RFC 6962 root (`0x…`).
 * - `GET /v1/ledger/verify`: reads the whole file again; `{valid: true, size, hash, root}`, or `{valid: false, line,
 *   reason}` with the first bad line, both with 200.
 * - `GET /v1/ledger/entries?from=&to=`: the canonical lines of [from, to), one a line (`application/jsonl`); `from` is
 *   0 and `to` the size when absent.
 */
export function ledgerRoutes({ ledger, ledgerName }: AppDependencies): Hono {
  const app = new Hono();

  app.get("/v1/ledger/latest", (c) =>
    c.json({ ...ledgerName, size: ledger.size, hash: ledger.head, root: toHex(ledger.tree.root()) }),
  );

  app.get("/v1/ledger/verify", async (c) => {
    try {
      const { size, head, root } = await ledger.verify();
      return c.json({ valid: true, size, hash: head, root: toHex(root) });
    } catch (error) {
      if (!(error instanceof LedgerLineError)) throw error;
      return c.json({ valid: false, line: error.line, reason: error.reason });
    }
  });

  app.get("/v1/ledger/entries", (c) => {
    const from = positionOf(c.req.query("from"), "from") ?? 0;
    const to = positionOf(c.req.query("to"), "to") ?? ledger.size;
    const segment = ledger.segment(from, to);
    return new Response(Readable.toWeb(Readable.from(segment)) as ReadableStream<Uint8Array>, {
      headers: { "content-type": "application/jsonl", "x-ledger-size": String(ledger.size) },
    });
  });

  return app;
}
