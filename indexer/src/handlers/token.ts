import { type Event, ponder } from "ponder:registry";
import { config } from "../../environment.ts";
import { authorization } from "../../ponder.schema.ts";
import { logEvent } from "../eventLog.ts";
import { Authorizations } from "./authorizations.ts";
import { lower, placeOf } from "./place.ts";

const LATEST = "last";

const authorizations = new Authorizations();

// When only the transfers that matter are read, the token is not one of Ponder's contracts.
if (config.transfers.form === "all") indexTransfers();

function indexTransfers(): void {
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
      event.block,
    );
  });
}

function tokenLog(event: Event<"Token:Transfer" | "Token:AuthorizationUsed">) {
  return { ...placeOf(event), hash: event.block.hash, tx: event.transaction.hash };
}
