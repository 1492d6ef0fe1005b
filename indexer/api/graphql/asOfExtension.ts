import type { ExecutionResult } from "graphql";
import { isAsyncIterable, type Plugin } from "graphql-yoga";
import { STATE_ID } from "tallystick-derive/stateId";
import { asOf } from "../asOf.ts";
import type { QueryContext } from "./context.ts";
import { asksForTheSchemaOnly } from "./introspectionCache.ts";

/**
 * Adds the block, time and digest of the last tick to every answer, as `extensions.asOf`. They are read
 * together with the answer. If reading fails, the requested fields report the error. This plugin must come
 * before the time limit.
 */
export function asOfExtension(): Plugin {
  return {
    onExecute: ({ executeFn, setExecuteFn, args }) => {
      // The schema is the same at every block, and its answer is cached.
      if (asksForTheSchemaOnly(args.document)) return;
      const { load } = args.contextValue as unknown as QueryContext;
      setExecuteFn(async (given) => {
        const reading = load.state.load(STATE_ID).catch(() => null);
        const result: ExecutionResult = await executeFn(given);
        if (isAsyncIterable(result)) return result;
        const at = asOf(await reading);
        return at === null ? result : { ...result, extensions: { ...result.extensions, asOf: at } };
      });
    },
  };
}
