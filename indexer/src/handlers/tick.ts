import { ponder } from "ponder:registry";
import { logEvent } from "../eventLog.ts";

/** Ponder runs a block's own handler after the handlers of its logs, so a tick is the last event of its block. */
ponder.on("Tick:block", async ({ event, context }) => {
  const { number, timestamp, hash } = event.block;
  await logEvent(
    context.db,
    { block: Number(number), time: Number(timestamp), kind: "tick", hash },
    event.block,
  );
});
