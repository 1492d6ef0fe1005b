import { Hono } from "hono";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { answerError } from "tallystick-runtime/http/answerError";
import { entryRange } from "tallystick-runtime/http/entryRange";
import { measureRoutes, requestHistogram } from "tallystick-runtime/http/measureRoutes";
import type { BucketCopyState } from "../objectStore/bucketCopy.ts";
import { chargeForReading } from "../routes/chargeForReading.ts";
import { logRoutes } from "../routes/tileRoutes.ts";
import { readTileAt } from "../staticLog/logSource.ts";
import type { Mirror } from "./mirror.ts";
import { mirrorRegistry } from "./mirrorMetrics.ts";
import { readLines } from "./readLines.ts";

/**
 * The most entries of one answer, and roughly its most bytes. Followers have the same limits. For more, ask again
 * from the end of the last answer.
 */
const MAX_ENTRIES = 1_024;
const MAX_BYTES = 4 << 20;

/**
 * Why the source is not followed, for strangers. The error's own message may name a folder or an address, or have words
 * of the source: it is only in the log.
 */
const REASONS: { [code: string]: string } = {
  ledger_forked: "The ledger has two histories.",
  source_contradicts: "The source gave entries that are not those of its checkpoint.",
  checkpoint_refused: "The checkpoint of the source is not accepted.",
  unreadable_log: "The source, or a file of the copy, cannot be read.",
  mirror_unwritable: "The copy cannot be written.",
};
const OTHER_REASON = "The source is not followed.";

export type MirrorAppParameters = {
  mirror: Mirror;
  /** The ledger's id, when it is known. */
  ledgerId: Hex | undefined;
  /** The state of the copy in the object store; undefined without one. */
  bucket: (() => BucketCopyState) | undefined;
  /** Called with internal errors of a request. */
  onFault: (error: unknown) => void;
};

/**
 * The HTTP side of a mirror. It serves verified entries, even while its source does not answer or lies.
 *
 * - `GET /v1/ledger/entries?ledger=&from=&to=`: canonical lines, one a line (`application/jsonl`), as followers serve them.
 * - `GET /v1/ledger/latest`: `{ledger, origin, size, hash, root}`; `GET /v1/ledger/checkpoint`: the newest signed note.
 * - `GET /tlog/checkpoint`, `/tlog/tile/…`: the log by C2SP tlog-tiles. The mirror's folder can be served as it is, too.
 * - `GET /health`: 503 while the mirror refuses what its source says; `GET /metrics`.
 */
export function createMirrorApp({ mirror, ledgerId, bucket, onFault }: MirrorAppParameters): Hono {
  const app = new Hono();
  const registry = mirrorRegistry(mirror);
  app.use(measureRoutes(requestHistogram(registry)));
  app.onError((error) => answerError(error, { statusByCode: { unknown_ledger: 404 }, log: onFault }));

  app.get("/v1/ledger/entries", async ({ req, env }) => {
    requireLedger(req.query("ledger"));
    const { size } = mirror.state;
    const range = { from: req.query("from"), to: req.query("to") };
    const [from, to] = entryRange(range, size, "the size of this copy");
    const end = Math.min(to, from + MAX_ENTRIES);
    const { lines, bytesRead } = await readLines(mirror.own, { from, to: end, size, mostBytes: MAX_BYTES });
    chargeForReading(env, bytesRead);
    return new Response(lines.map((line) => `${line}\n`).join(""), {
      headers: { "content-type": "application/jsonl", "x-ledger-size": String(size) },
    });
  });

  app.get("/v1/ledger/latest", (c) => {
    const { origin, size, root } = mirror.state;
    return c.json({ ledger: ledgerId ?? null, origin: origin ?? null, size, hash: mirror.head, root });
  });

  app.get("/v1/ledger/checkpoint", () => {
    return new Response(requireNote(), {
      headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache" },
    });
  });

  app.route(
    "/",
    logRoutes({
      size: () => mirror.state.size,
      checkpoint: requireNote,
      readTile: (tile) => readTileAt(mirror.own, mirror.state.size, tile),
    }),
  );

  app.get("/health", (c) => {
    const { refusal, ...state } = mirror.state;
    const problem = refusal && {
      code: refusal.code,
      reason: REASONS[refusal.code] ?? OTHER_REASON,
      hint: refusal.hint,
    };
    // Where the copy is, and what its errors say of that, is only in the log: strangers need not know it.
    const copied = bucket?.();
    const copy = copied && { bucket: { size: copied.size, code: copied.code } };
    return c.json(
      { status: refusal ? "refusing" : "ok", ...problem, ...state, ...copy },
      refusal ? 503 : 200,
    );
  });

  app.get(
    "/metrics",
    async () => new Response(await registry.metrics(), { headers: { "content-type": registry.contentType } }),
  );

  app.notFound((c) => {
    throw new TallystickError({ code: "not_found", message: `There is no ${c.req.path} here.` });
  });
  return app;

  function requireLedger(asked: string | undefined): void {
    if (asked === undefined || asked.toLowerCase() === ledgerId) return;
    throw new TallystickError({
      code: "unknown_ledger",
      message: "This mirror does not know its log by that id.",
      hint:
        ledgerId === undefined
          ? "Its operator sets MIRROR_LEDGER. Without `ledger` the request means its own log."
          : `Its id here is ${ledgerId}.`,
    });
  }

  function requireNote(): string {
    const { note } = mirror;
    if (note !== undefined) return note;
    throw new TallystickError({ code: "not_ready", message: "This mirror has no entries of its log yet." });
  }
}
