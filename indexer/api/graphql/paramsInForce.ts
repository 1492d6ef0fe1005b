import { STATE_ID } from "tallystick-derive/stateId";
import type { Row } from "tallystick-derive/tables";
import { type Params, paramsSchema } from "tallystick-protocol/records/params";
import type { QueryContext } from "./context.ts";

/**
 * The parsed parameters of each state. They are parsed once per request, because they may name thousands of
 * hubs.
 */
const known = new WeakMap<Row<"state">, Params>();

/** The parameters in force; null before anything was indexed. */
export async function paramsInForce({ load }: QueryContext): Promise<Params | null> {
  const state = await load.state.load(STATE_ID);
  if (state === null) return null;
  let params = known.get(state);
  if (params === undefined) {
    params = paramsSchema.parse(JSON.parse(state.params));
    known.set(state, params);
  }
  return params;
}
