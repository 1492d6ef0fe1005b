import { ponder } from "ponder:registry";
import { transfer } from "../ponder.schema.ts";

ponder.on("Token:Transfer", async ({ event, context }) => {
  await context.db.insert(transfer).values({
    id: event.id,
    block: event.block.number,
    time: event.block.timestamp,
    ...event.args,
    tx: event.transaction.hash,
  });
});
