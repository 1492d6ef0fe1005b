import { type ApplyContext, openContext } from "tallystick-derive/applyContext";
import type { DeriveEvent } from "tallystick-derive/events";
import { itemsOf } from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { numbersUp } from "tallystick-derive/orderIndex";
import type { Ask } from "tallystick-derive/relevant/reads";
import type { Row } from "tallystick-derive/tables";
import { defineParams, type Params } from "tallystick-protocol/records/params";
import { NOBODY, START, wallet } from "./eventLog.ts";

export type Form = "all" | "relevant";

export const FORMS: readonly Form[] = ["all", "relevant"];

/**
 * A context for functions that an event calls, at a place of a log.
 *
 * @param form which transfers the log has
 * @param log null at a tick
 * @param state columns of the state, for example the time of the last tick
 * @param ask answers what a relevant log asks for; by default everything is read already
 */
export function contextAt(
  block: number,
  log: number | null,
  {
    store = new MemoryStore(),
    form = "all" as Form,
    params = {} as Parameters<typeof defineParams>[0],
    time = START + block,
    ask = undefined as Ask | undefined,
    state = {} as Partial<Row<"state">>,
  } = {},
): ApplyContext {
  const first = {
    kind: "params",
    block: 0,
    log: 0,
    time: START,
    params: defineParams(params) as Params,
    form,
  };
  openContext(store, first as DeriveEvent);
  const transfer = { kind: "transfer", log, token: NOBODY, from: wallet(1), to: wallet(2), value: "1" };
  const event = log === null ? { kind: "tick", block, time } : { ...transfer, block, time };
  const context = openContext(store, event as DeriveEvent, ask && { ask });
  return { ...context, state: { ...context.state, ...state } };
}

/** The items of the schedule, as `<due> <kind> <words>`, in the order of time. */
export function scheduled({ store }: ApplyContext): string[] {
  const buckets = [...numbersUp(store, "scheduleBuckets", 0, 10_000_000)];
  return buckets.flatMap((bucket) => [...itemsOf(store, `schedule/${bucket}`)]);
}
