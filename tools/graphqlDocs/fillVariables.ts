import type { Example } from "../../indexer/api/graphql/examples.ts";

/** The variables of an example. Some of them come from the answers to earlier examples. */
export function fillVariables(
  { variables, fill = {} }: Example,
  answers: Map<string, unknown>,
): Record<string, string> | undefined {
  if (variables === undefined) return undefined;
  const filled = Object.entries(fill).map(([name, [title, ...path]]) => {
    let value: unknown = answers.get(title);
    for (const step of path) value = (value as Record<string | number, unknown> | undefined)?.[step];
    if (typeof value !== "string") throw new Error(`${title} has no answer for the variable ${name}.`);
    return [name, value];
  });
  return { ...variables, ...Object.fromEntries(filled) };
}
