import { ponder } from "ponder:registry";
import { config } from "../../environment.ts";
import { bringTransfersIn } from "../eventLog.ts";

// When only the transfers that matter are read, this applies them in their own block. Otherwise they would come with
// the next tick. A wake-up is not an event of the log. So it makes no difference whether a node has wake-ups, and for
// which blocks.
if (config.transfers.form === "relevant") {
  ponder.on("Wake:block", async ({ event, context }) => {
    await bringTransfersIn(context.db, event.block);
  });
}
