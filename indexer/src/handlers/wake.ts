import { ponder } from "ponder:registry";
import { config } from "../../environment.ts";
import { bringTransfersIn } from "../eventLog.ts";

// When only the transfers that matter are read, this shows them with their block, and not only with the next tick. A
// wake-up is not an event of the log: whether a node has it, and for which blocks, changes nothing.
if (config.transfers.form === "relevant") {
  ponder.on("Wake:block", async ({ event, context }) => {
    await bringTransfersIn(context.db, event.block);
  });
}
