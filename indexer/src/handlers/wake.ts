import { ponder } from "ponder:registry";
import { config } from "../../environment.ts";
import { bringTransfersIn } from "../eventLog.ts";

// Where only the transfers that matter are read, they are seen when their block is, and not with the next tick. A wake-up is no event of
// the log: whether a node has it, and for which blocks, changes nothing.
if (config.transfers.form === "relevant") {
  ponder.on("Wake:block", async ({ event, context }) => {
    await bringTransfersIn(context.db, event.block);
  });
}
