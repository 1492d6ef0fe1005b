import { fieldNames, publishedFieldOf } from "tallystick-derive/publishedFields";
import { TallystickError } from "tallystick-protocol/errors";
import type { Database } from "../database.ts";
import { wholeState } from "../rows/state.ts";
import type { ParamsResponse } from "./schemas.ts";
import { SEARCH_RANKING } from "./search.ts";

/**
 * The parameters in force, with the source and cadence of every reputation field and the order of search results.
 *
 * @throws TallystickError `not_ready` before the first event was indexed
 */
export async function publishedParams(db: Database): Promise<ParamsResponse> {
  const state = await wholeState(db);
  if (state === undefined) {
    throw new TallystickError({
      code: "not_ready",
      message: "Nothing has been indexed yet; try again later.",
    });
  }
  return {
    version: state.paramsVersion,
    params: JSON.parse(state.params),
    reputation_fields: Object.fromEntries(
      fieldNames.map((name) => {
        const { source, cadence } = publishedFieldOf(name);
        return [name, { source, cadence }];
      }),
    ),
    search_ranking: SEARCH_RANKING,
    as_of: { block: state.block, time: state.time },
  };
}
