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

/** The most cached answers. Tools use only a few different queries. GraphiQL's answer has 144 kB. */
const MAX_KEPT = 8;

/** Shorter answers are quickly made again, so they are not cached. */
const MIN_CHARACTERS = 10_000;

/**
 * Caches the answers to introspection queries. They never change while the process runs. Each takes about 20 ms to
 * make, and all other requests wait during this time. Every cached answer has passed all limits before. Queries that
 * differ only in white space and comments share an answer.
 */
export function introspectionCache(): Plugin {
  /** The least recently used first. */
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
          if (text.length < MIN_CHARACTERS) return;
          texts.set(key, text);
          for (const oldest of texts.keys()) if (texts.size > MAX_KEPT) texts.delete(oldest);
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
    // The query is malformed, which the parser reports.
    return undefined;
  }
}

/**
 * Whether the document alone decides the answer. A fragment at the root is not searched, because no tool uses
 * one there.
 */
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
