import { type Event, ponder } from "ponder:registry";
import { config } from "../../environment.ts";
import { hubsWarning } from "../../hubsWarning.ts";
import { authorization, token } from "../../ponder.schema.ts";
import { logWarning } from "../../ponderProcess.ts";
import { logEvent } from "../eventLog.ts";
import { Authorizations } from "./authorizations.ts";
import { holdSchema } from "./holdSchema.ts";
import { lower, placeOf } from "./place.ts";

const LATEST = "last";

const authorizations = new Authorizations();

const missing = hubsWarning(config);
if (missing !== null) logWarning({ msg: missing });

/** The log begins with what this node was configured with: its parameters, its token, and the block where it starts to read. */
ponder.on("Token:setup", async ({ context }) => {
  await holdSchema(context.db);
  const { timestamp } = await context.client.getBlock({ blockNumber: BigInt(config.startBlock) });
  await context.db.insert(token).values({ id: config.token, firstBlock: config.startBlock });
  await logEvent(
    context.db,
    {
      block: config.startBlock,
      time: Number(timestamp),
      log: 0,
      kind: "params",
      form: "all",
      params: config.params,
      token: { address: config.token, firstBlock: config.startBlock },
    },
    "",
  );
});

ponder.on("Token:AuthorizationUsed", async ({ event, context }) => {
  const used = authorizations.used(tokenLog(event), lower(event.args.authorizer));
  await context.db
    .insert(authorization)
    .values({ id: LATEST, ...used })
    .onConflictDoUpdate(used);
});

ponder.on("Token:Transfer", async ({ event, context }) => {
  const { time, hash, ...place } = tokenLog(event);
  const from = lower(event.args.from);
  const authorized = await authorizations.isAuthorized({ hash, ...place }, from, () =>
    context.db.find(authorization, { id: LATEST }),
  );
  const { block, log, tx } = place;
  const to = lower(event.args.to);
  const value = String(event.args.value);
  await logEvent(
    context.db,
    { block, time, log, kind: "transfer", token: config.token, from, to, value, tx, authorized },
    hash,
  );
});

function tokenLog(event: Event<"Token:Transfer" | "Token:AuthorizationUsed">) {
  return { ...placeOf(event), hash: event.block.hash, tx: event.transaction.hash };
}
