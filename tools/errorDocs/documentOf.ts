import { advice } from "./advice.ts";
import type { ContractError } from "./contractErrors.ts";
import type { ErrorSite } from "./errorSites.ts";

/** The parts of the page, in order. An error belongs to the first part whose folder contains its source. */
const PARTS: readonly [folder: string, title: string, text: string][] = [
  ["graphql", "GraphQL", "In `errors[].extensions.code` of an answer of `/graphql`."],
  ["indexer/api/", "REST and stream of a node", "In `code` of an `application/problem+json` answer."],
  [
    "services/settlement/",
    "Settlement",
    "In `code` of an `application/problem+json` answer; an error without a status is in the log, or is the reason why settlement does not start.",
  ],
  ["services/", "Other services", "In an answer, in the log, or as the reason why a service does not start."],
  ["packages/runtime/", "All servers", "In `code` of an `application/problem+json` answer."],
  [
    "packages/sdk/seller/",
    "Sellers and keepers",
    "In the answer of a seller or keeper of the SDK, and in what `createSeller` throws.",
  ],
  ["packages/sdk/createSeller.ts", "Sellers and keepers", ""],
  ["packages/sdk/clarify/createClarification.ts", "Sellers and keepers", ""],
  ["packages/sdk/clarify/clarifyLimits.ts", "Sellers and keepers", ""],
  ["packages/sdk/escrow/", "Sellers and keepers", ""],
  [
    "packages/sdk/",
    "Buyers, and readers of a node",
    "Thrown by the SDK. A `HireFailedError` also says in `money` where the buyer's money is.",
  ],
  [
    "packages/mcp/",
    "MCP servers",
    "In the answer of a tool, or as the reason why the server does not start.",
  ],
  [
    "packages/protocol/",
    "Records, ledgers and proofs",
    "Thrown wherever a record, a ledger, a proof or a stranger's JSON is read.",
  ],
  ["packages/capabilities/", "Capabilities", "Thrown by the checks of offers, inputs and outputs."],
  ["packages/derive/", "Event logs", "Printed by `tallystick derive`, thrown by `packages/derive/`."],
  ["indexer/", "The indexer", "In the log of the indexer, or as the reason why it does not start."],
  ["scripts/", "The command line", "Printed with the exit code 1."],
];

const HEAD = `# Errors

<!-- Generated from the sources: npm run generate:errors. -->

Every error has a code. Programs switch on the code; people read the message and the hint. \`…\` stands for what a message fills in.
A server answers an error as [problem+json](https://www.rfc-editor.org/rfc/rfc9457): \`code\`, \`title\`, \`status\`, \`detail\`, and sometimes \`hint\` and
\`errors\` (the fields at fault). Bad input writes nothing. Its status is 400, unless a row says otherwise. A code means the same wherever it appears.
`;

const OF_INPUT = {
  means: "An input is not valid. The error names each field at fault.",
  do: "Correct those fields and try again. Nothing was written.",
};
const OF_OTHERS = {
  means: "The message says what is wrong.",
  do: "Correct what the message names, and try again.",
};

/** How many of the messages of one code a row shows. */
const MAX_MESSAGES = 3;

/**
 * Makes the page of all errors.
 *
 * @param statusOf the HTTP status of a code that has the same status in all answers
 * @param contracts the errors of each contract, by its name
 */
export function documentOf(
  sites: readonly ErrorSite[],
  statusOf: (site: ErrorSite) => number | undefined,
  contracts: { [name: string]: readonly ContractError[] },
): string {
  const parts = new Map(PARTS.map(([, title]) => [title, new Map<string, ErrorSite[]>()]));
  for (const site of sites) {
    const codes = parts.get(titleOf(site));
    codes?.set(site.code, [...(codes.get(site.code) ?? []), site]);
  }
  const texts = [...parts].map(([title, codes]) => partOf(title, codes, statusOf));
  const ofContracts = Object.entries(contracts).map(([name, errors]) => contractOf(name, errors));
  return [HEAD, ...texts.filter((text) => text !== ""), ...ofContracts].join("\n");
}

function titleOf({ code, file }: ErrorSite): string {
  const key = /^[A-Z]/.test(code) ? "graphql" : file;
  return PARTS.find(([folder]) => key.startsWith(folder))?.[1] ?? "Other services";
}

function partOf(
  title: string,
  codes: ReadonlyMap<string, ErrorSite[]>,
  statusOf: (site: ErrorSite) => number | undefined,
): string {
  if (codes.size === 0) return "";
  const text = PARTS.find(([, it]) => it === title)?.[2] ?? "";
  const statuses = new Map(
    [...codes].map(([code, sites]) => [code, unique(sites.map(statusOf)).sort().join(", ")] as const),
  );
  const hasStatus = [...statuses.values()].some((status) => status !== "");
  const rows = [...codes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, sites]) => {
      const status = hasStatus ? ` ${statuses.get(code) || "–"} |` : "";
      return `| \`${code}\` |${status} ${meaningOf(code, sites)} | ${nextOf(code, sites)} |`;
    });
  const head = hasStatus
    ? "| code | status | means | do |\n|---|---|---|---|"
    : "| code | means | do |\n|---|---|---|";
  return `## ${title}\n\n${text}\n\n${head}\n${rows.join("\n")}\n`;
}

function contractOf(name: string, errors: readonly ContractError[]): string {
  const rows = errors.map(({ signature, means, do: next }) => {
    const todo = next === "" ? cell(advice[signature.split("(")[0] as string]?.do ?? OF_OTHERS.do) : next;
    return `| \`${signature}\` | ${cell(means)} | ${todo[0]?.toUpperCase()}${todo.slice(1)} |`;
  });
  return `## ${name}\n\nThe contract reverts with the error. Nothing has changed then.\n\n| error | means | do |\n|---|---|---|\n${rows.join("\n")}\n`;
}

function meaningOf(code: string, sites: readonly ErrorSite[]): string {
  const said = unique(sites.map(({ message }) => message)).filter((it) => /[a-z]{3}/.test(it));
  const means = advice[code]?.means;
  const all = means === undefined ? said : [means, ...said];
  if (all.length === 0) return defaultOf(sites).means;
  return (
    all.slice(0, MAX_MESSAGES).map(cell).join("<br>") + (all.length > MAX_MESSAGES ? "<br>and others" : "")
  );
}

function nextOf(code: string, sites: readonly ErrorSite[]): string {
  const said = unique(sites.map(({ hint }) => hint));
  const rest = sites.some(({ hint }) => hint === undefined)
    ? [advice[code]?.do ?? (said.length > 0 && !sites.some(isOfInput) ? undefined : defaultOf(sites).do)]
    : [];
  return unique([...rest, ...said])
    .slice(0, MAX_MESSAGES)
    .map(cell)
    .join("<br>");
}

const isOfInput = ({ isInput }: ErrorSite): boolean => isInput === true;
const defaultOf = (sites: readonly ErrorSite[]) => (sites.every(isOfInput) ? OF_INPUT : OF_OTHERS);

/** Text for a cell of a table, with all Markdown escaped. */
const cell = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(/[|*]/g, "\\$&")
    .replaceAll(/\bhttps?:\/\/[^\s),]+/g, "`$&`");

const unique = <T>(all: readonly (T | undefined)[]): T[] => [
  ...new Set(all.filter((it): it is T => it !== undefined)),
];
