import { ponder } from "ponder:registry";
import { config } from "../../environment.ts";
import { authorization, token } from "../../ponder.schema.ts";
import { logEvent } from "../eventLog.ts";
import { lower, placeOf } from "./place.ts";

const LATEST = "last";

/** The log begins with the parameters that this node was configured with, at the block where it starts to read. */
ponder.on("Token:setup", async ({ context }) => {
  const { timestamp } = await context.client.getBlock({ blockNumber: BigInt(config.startBlock) });
  await context.db.insert(token).values({ id: config.token });
  await logEvent(
    context.db,
    {
      block: config.startBlock,
      time: Number(timestamp),
      log: 0,
      kind: "params",
      params: config.params,
    },
    "",
  );
});

/** EIP-3009: the token logs the authorization right before the transfer it pays for. */
ponder.on("Token:AuthorizationUsed", async ({ event, context }) => {
  const { block, log } = placeOf(event);
  const used = { block, log, tx: event.transaction.hash, authorizer: lower(event.args.authorizer) };
  await context.db
    .insert(authorization)
    .values({ id: LATEST, ...used })
    .onConflictDoUpdate(used);
});

ponder.on("Token:Transfer", async ({ event, context }) => {
  const place = placeOf(event);
  const from = lower(event.args.from);
  const tx = event.transaction.hash;
  const used = await context.db.find(authorization, { id: LATEST });
  const authorized =
    used !== null &&
    used.block === place.block &&
    used.log === place.log - 1 &&
    used.tx === tx &&
    used.authorizer === from;
  await logEvent(
    context.db,
    {
      ...place,
      kind: "transfer",
      token: config.token,
      from,
      to: lower(event.args.to),
      value: String(event.args.value),
      tx,
      authorized,
    },
    event.block.hash,
  );
});
