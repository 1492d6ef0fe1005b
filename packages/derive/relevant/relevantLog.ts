import { TallystickError } from "tallystick-protocol/errors";
import type { ApplyOptions } from "../applyContext.ts";
import type { DeriveEvent } from "../events.ts";
import { MemoryStore } from "../memoryStore.ts";
import { applyRelevant } from "./applyRelevant.ts";
import { pastOf } from "./pastOf.ts";

/**
 * Makes a relevant log (only the transfers that matter) from a log of all transfers, line by line. Both logs give the
 * same digest at every tick.
 *
 * @param log of the form `all`, with its parameters as the first line
 * @throws TallystickError `not_all` when the log has another form
 */
export async function* relevantLog(
  log: readonly DeriveEvent[],
  options: ApplyOptions = {},
): AsyncGenerator<DeriveEvent> {
  const [first] = log;
  if (first?.kind !== "params" || first.form === "relevant") {
    throw new TallystickError({
      code: "not_all",
      message: "The log does not begin with the parameters of a log of all transfers.",
      hint: "A relevant log is made from a log of all transfers. The first line of such a log has the kind params and the form all.",
    });
  }
  const store = new MemoryStore();
  const read = pastOf(log);
  const token = first.token?.address;
  for (const event of log) {
    if (event.kind === "transfer" && token !== undefined && event.token !== token) continue;
    const known: DeriveEvent = event.kind === "params" ? { ...event, form: "relevant" } : event;
    yield* await applyRelevant(store, known, read, options);
  }
}
