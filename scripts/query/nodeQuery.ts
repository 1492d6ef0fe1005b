import { styleText } from "node:util";
import Table from "cli-table3";
import { type Command, Option } from "commander";
import { plainJson, plainText } from "tallystick-runtime/plainText";
import type { GraphqlClient } from "tallystick-sdk/query/createGraphqlClient";
import { createQueryClient, type QueryClient } from "tallystick-sdk/query/createQueryClient";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { graphqlForms } from "./graphqlForms.ts";

/** The options of every command that asks a node. */
export type QueryOptions = { url: string; json?: boolean };

/** Adds `--url` and `--json`. */
export function addQueryOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--url <url>", "the node's address")
        .env("TALLYSTICK_URL")
        .default(`http://127.0.0.1:${process.env.INDEXER_PORT || 42_069}`),
    )
    .option("--json", "print the answer as JSON, for programs");
}

/**
 * A client of the node. It checks the forms of GraphQL answers: any machine may be at this address.
 *
 * @throws its calls throw ServiceError, also `unreadable_answer`
 */
export function nodeAt({ url }: QueryOptions): QueryClient {
  const client = createQueryClient({ baseUrl: url });
  const graphql = checkedClient(client.graphql);
  return { ...client, graphql, agent: async (address) => (await graphql.agent({ address })).agent };
}

function checkedClient(graphql: GraphqlClient): GraphqlClient {
  type Ask = (...given: unknown[]) => Promise<unknown>;
  const checked = Object.entries(graphqlForms).map(([name, form]) => {
    const ask: Ask = graphql[name as keyof GraphqlClient] as never;
    return [
      name,
      async (...given: unknown[]) => {
        const answer = await ask(...given);
        readServiceAnswer(form(), answer, { what: `The node's answer to the query "${name}"` });
        return answer;
      },
    ] as const;
  });
  return Object.fromEntries(checked) as never;
}

/** Prints the answer: JSON for programs, text for people. */
export function answer(options: Pick<QueryOptions, "json">, value: unknown, text: () => string): void {
  process.stdout.write(`${options.json ? plainJson(value, 2) : text()}\n`);
}

/** A value for the terminal. Strangers write endpoints, ids, modes and names, so it must not control the terminal. */
const cell = (value: string | number): string => plainText(String(value));

/** Formats names and values, one pair per line. Empty values are left out. */
export function facts(rows: [name: string, value: string | number | null | undefined][]): string {
  const known = rows.filter(([, value]) => value !== null && value !== undefined && value !== "");
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${bold(name.padEnd(width))}  ${cell(value ?? "")}`).join("\n");
}

/** The most characters of a cell of a table. A row of one stranger must not make all rows wider than any terminal. */
const MAX_CELL = 80;

const shortCell = (value: string | number): string => {
  const text = cell(value);
  return text.length <= MAX_CELL ? text : `${text.slice(0, MAX_CELL - 1)}…`;
};

/** Formats a table, or gives the sentence `empty` if there are no rows. Long cells are cut; `--json` gives them whole. */
export function table(head: string[], rows: (string | number)[][], empty: string): string {
  if (rows.length === 0) return empty;
  const lines = new Table({ head: head.map(bold), style: { head: [], border: [] } });
  lines.push(...rows.map((row) => row.map(shortCell)));
  return lines.toString();
}

export function bold(text: string): string {
  return styleText("bold", text, { stream: process.stdout });
}

export const percent = (rate: number | null): string =>
  rate === null ? "–" : `${(rate * 100).toFixed(1)} %`;
export const number = (value: number | null): string =>
  value === null ? "–" : value.toLocaleString("en", { maximumFractionDigits: 2 });
/**
 * Formats unix seconds as a date and a time in UTC. A deadline that a stranger chose may be beyond all dates: then it is
 * the number.
 */
export function moment(time: number | null): string {
  if (time === null) return "–";
  const date = new Date(time * 1000);
  return Number.isNaN(date.getTime()) ? `${time} s` : date.toISOString().replace("T", " ").slice(0, 19);
}
