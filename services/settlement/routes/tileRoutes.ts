import { Hono } from "hono";
import { TallystickError } from "tallystick-protocol/errors";
import { parseTilePath, type Tile } from "tallystick-protocol/merkle/tilePath";
import type { AppDependencies } from "../appDependencies.ts";
import { readTile } from "../proofs/tiles.ts";
import { chargeForReading } from "./chargeForReading.ts";

/** The path of the log for tools that read C2SP tlog-tiles. */
export const TILES_PREFIX = "/tlog";

/**
 * The ledger as a C2SP tlog-tiles log, so that monitors can read it like any other log.
 *
 * - `GET /tlog/checkpoint`: the newest signed note.
 * - `GET /tlog/tile/<L>/<N>[.p/<W>]`: hashes; `GET /tlog/tile/entries/<N>[.p/<W>]`: entries. `L` is the level, `N` the
 *   number of the tile in its level, and `W` the width of a partial tile. A tile never changes.
 */
export function tileRoutes({ ledger, checkpoints }: AppDependencies): Hono {
  return logRoutes({
    size: () => ledger.size,
    checkpoint: () => checkpoints.latest().note,
    readTile: (tile) => readTile(ledger, tile),
  });
}

/** A log that is served by {@link logRoutes}. A tile that it does not have is undefined. */
export type ServedLog = {
  size: () => number;
  checkpoint: () => string;
  readTile: (tile: Tile) => Promise<Uint8Array | undefined>;
};

/** The routes of {@link tileRoutes}, for any log. */
export function logRoutes(log: ServedLog): Hono {
  const app = new Hono();

  app.get(`${TILES_PREFIX}/checkpoint`, () => {
    return new Response(log.checkpoint(), {
      headers: { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache" },
    });
  });

  app.get(`${TILES_PREFIX}/tile/*`, async (c) => {
    const tile = parseTilePath(c.req.path.slice(`${TILES_PREFIX}/tile/`.length));
    const bytes = tile && (await log.readTile(tile));
    if (!bytes) {
      throw new TallystickError({
        code: "not_found",
        message: `There is no tile ${c.req.path} in a log of ${log.size()} entries.`,
      });
    }
    chargeForReading(c.env, bytes.length);
    return new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: {
        "content-type": "application/octet-stream",
        "cache-control": "public, max-age=31536000, immutable",
      },
    });
  });

  return app;
}
