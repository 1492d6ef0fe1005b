import { TallystickError } from "tallystick-protocol/errors";
import { openNodeSnapshot } from "../../indexer/nodeDatabase.ts";
import { keptNodes } from "../../scripts/demo/runFolder.ts";
import { DATABASE_SCHEMA } from "../../scripts/demo/services.ts";
import type { ServedNode } from "./serveApi.ts";

/** The database of a node that is not a demo. */
export type GivenDatabase = { databaseUrl?: string; databaseSchema?: string };

/**
 * The node whose rows the API serves: the node of the given database, or else the demo that runs from this checkout.
 *
 * @throws TallystickError `no_demo`, or what {@link openNodeSnapshot} throws
 */
export async function nodeToServe(given: GivenDatabase): Promise<Omit<ServedNode, "port">> {
  const demos = await keptNodes();
  const { databaseUrl = demos[0]?.databaseUrl } = given;
  if (databaseUrl === undefined) {
    throw new TallystickError({
      code: "no_demo",
      message: "No demo keeps running from this checkout, and DATABASE_URL is not set.",
      hint:
        "Start one in another terminal with `npm run demo -- --keep`. When it has printed its table, run this command again. " +
        "Or set DATABASE_URL and DATABASE_SCHEMA to those of another node.",
    });
  }
  // If the given database belongs to a demo, its settlement and ledger are used too.
  const demo = demos.find((it) => it.databaseUrl === databaseUrl);
  const databaseSchema = given.databaseSchema ?? demo?.databaseSchema ?? DATABASE_SCHEMA;
  const snapshot = await openNodeSnapshot({ databaseUrl, databaseSchema });
  try {
    return {
      databaseUrl,
      databaseSchema,
      ...(await snapshot.chain()),
      settlementUrl: demo?.settlementUrl ?? null,
      ledgers: demo === undefined ? [] : [demo.ledger],
    };
  } finally {
    await snapshot.close();
  }
}
