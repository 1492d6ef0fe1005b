import type { DeriveEvent } from "tallystick-derive/events";
import { EventLog, TOKEN, wallet } from "../../derive/eventLog.ts";

const [seller, buyer] = [wallet(1), wallet(2)];

/** A log as a node exports it, with `ticks` ticks and `hires` hires before each tick. The first line names the token. */
export function story(ticks: number, hires = 2): EventLog {
  const log = new EventLog();
  log.events[0] = {
    ...log.events[0],
    form: "all",
    token: { address: TOKEN, firstBlock: 1 },
  } as DeriveEvent;
  for (let n = 0; n < ticks; n++) {
    for (let hire = 0; hire < hires; hire++)
      log.after(60).hire(seller, hire % 2 === 0 ? buyer : wallet(3 + ((n + (hire >> 1)) % 5)));
    log.after(60).tick();
  }
  return log;
}
