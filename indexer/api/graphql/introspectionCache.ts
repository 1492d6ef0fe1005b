import {
  type DocumentNode,
  type ExecutionResult,
  Kind,
  OperationTypeNode,
  stripIgnoredCharacters,
} from "graphql";
import { isAsyncIterable, type Plugin, type YogaInitialContext } from "graphql-yoga";
import { admittedOf } from "tallystick-runtime/http/limitClients";
import type { Connection } from "./context.ts";
import { CHARACTERS_PER_POINT } from "./points.ts";

/** Answers kept. Tools ask in few ways; GraphiQL's is 144 kB. */
const MOST = 8;

/** Shorter ones are soon made again. */
const LEAST_CHARACTERS = 10_000;

/**
 * Gives the answer to an introspection again as it was: it is the same as long as the process runs, and to make it keeps everybody
 * else waiting for some 20 ms. What is kept has passed every limit before. White space and comments make no other query.
 */
export function introspectionCache(): Plugin {
  /** Least recently asked first. */
  const texts = new Map<string, string>();
  return {
    onParams: ({ params, context, setResult }) => {
      const key = keyOf(params);
      const text = key === undefined ? undefined : texts.get(key);
      if (key === undefined || text === undefined) return;
      texts.delete(key);
      texts.set(key, text);
      const { incoming } = context as Connection;
      admittedOf(incoming)?.budget.charge(text.length / CHARACTERS_PER_POINT);
      const result: ExecutionResult & { stringify: () => string } = { data: {}, stringify: () => text };
      setResult(result);
    },
    onExecute: ({ args: { document, contextValue } }) => {
      if (!asksForTheSchemaOnly(document)) return;
      const key = keyOf((contextValue as unknown as YogaInitialContext).params);
      if (key === undefined) return;
      return {
        onExecuteDone: ({ result }) => {
          if (Array.isArray(result) || isAsyncIterable(result)) return;
          if ((result as ExecutionResult).errors !== undefined) return;
          const text = JSON.stringify(result);
          if (text.length < LEAST_CHARACTERS) return;
          texts.set(key, text);
          for (const oldest of texts.keys()) if (texts.size > MOST) texts.delete(oldest);
        },
      };
    },
  };
}

function keyOf({ query, operationName }: YogaInitialContext["params"]): string | undefined {
  if (typeof query !== "string" || !/__(?:schema|type)\b/.test(query)) return undefined;
  try {
    return JSON.stringify([operationName ?? null, stripIgnoredCharacters(query)]);
  } catch {
    // It cannot be read; the parser reports that.
    return undefined;
  }
}

/** Whether nothing but the document decides what is answered. A fragment at the root is not looked into: no tool asks so. */
export function asksForTheSchemaOnly({ definitions }: DocumentNode): boolean {
  return definitions.every(
    (it) =>
      it.kind === Kind.FRAGMENT_DEFINITION ||
      (it.kind === Kind.OPERATION_DEFINITION &&
        it.operation === OperationTypeNode.QUERY &&
        (it.variableDefinitions ?? []).length === 0 &&
        it.selectionSet.selections.every(
          (root) => root.kind === Kind.FIELD && root.name.value.startsWith("__"),
        )),
  );
}
