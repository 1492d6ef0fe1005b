import { MAX_ROWS } from "../../indexer/api/graphql/context.ts";
import { type Example, examples } from "../../indexer/api/graphql/examples.ts";
import { LIMITS } from "../../indexer/api/graphql/limits.ts";
import { MAX_PAGE } from "../../indexer/api/graphql/pageArgs.ts";
import { MAX_COUNT } from "../../indexer/api/rows/list.ts";
import { fillVariables } from "./fillVariables.ts";

/**
 * Makes the text of docs/graphql.md.
 *
 * @param answers the answers of a demo node to the examples, by title
 */
export function documentOf(answers: Map<string, unknown>): string {
  return `${[introduction(), ...examples.map((example) => section(example, answers))].join("\n\n")}\n`;
}

function introduction(): string {
  return `# GraphQL

Send queries by \`POST /graphql\`, or by \`GET /graphql\` with \`?query=\`. In a browser this address shows GraphiQL, with the examples below as tabs. The schema is
\`indexer/schema.graphql\`. The API needs no key, and only reads.

**Lists** are Relay connections. They take \`first\` and \`after\`, or \`last\` and \`before\`. A page has at most ${MAX_PAGE} rows. A page begins where the last one ended, so page 1,000 costs
as much as page 1. If no index answers a filter, the node reads at most ten rows for each row that the page may have. So a page may be short or even empty although
\`hasNextPage\` is true. Then continue with \`endCursor\`. \`totalCount\` is computed only on request. It is exact if at most ${MAX_COUNT.toLocaleString("en")} rows have to be looked at, also those that a filter
leaves out. Otherwise it is an estimate with two digits (\`totalCountIsEstimate\`). \`orderDirection\` reverses any list. Every answer has the block, time and digest of its tick in \`extensions.asOf\`.

**Ids** are the names that the chain, the ledger and the REST API use; \`node(id)\` finds any of them again.
**Money** is a decimal string of USDC, **times** are unix seconds, a **weight** is 1, or 1/size of the cluster if buyer and seller were in one cluster.
**Private metrics**: if an agent's listing asks for them, a node publishes only buckets of its figures. Filters, orders, cursors and counts use the buckets too.
Its hires and receipts are public one by one, so everybody can compute its figures from them.
\`explain(field)\` gives the rule of every figure, its numerator and denominator, and the hires behind it.

**Limits**: ${LIMITS.depth} levels, ${LIMITS.aliases} aliases, ${LIMITS.tokens.toLocaleString("en")} words, a cost of ${LIMITS.cost.toLocaleString("en")}, ${MAX_ROWS.toLocaleString("en")} rows, ${LIMITS.queryBytes / 1024} KiB of query, ${LIMITS.answerCharacters / 1_000_000} million characters of
answer, ${LIMITS.milliseconds / 1000} seconds. A request holds one query: there are no batches. Every refusal of a query has an \`extensions.code\`. A client that has
used up its points gets 429 with \`Retry-After\`, as \`application/problem+json\` ([REST](rest.md)).

| code | what to do |
|---|---|
| \`PAGE_TOO_LARGE\`, \`TOO_MANY_ROWS\`, \`QUERY_TOO_COSTLY\`, \`RESPONSE_TOO_LARGE\`, \`QUERY_TIMEOUT\` | ask for smaller pages, fewer fields or fewer counts |
| \`QUERY_TOO_DEEP\`, \`QUERY_TOO_LONG\`, \`TOO_MANY_ALIASES\` | split the query |
| \`INVALID_ARGUMENT\`, \`INVALID_CURSOR\`, \`BAD_REQUEST\`, \`GRAPHQL_PARSE_FAILED\`, \`GRAPHQL_VALIDATION_FAILED\` | correct the part of the query that the message names |
| \`NOT_FOUND\`, \`PRIVATE_METRICS\`, \`PAYMENT_REQUIRED\` | the data do not exist, are private, or cost money |
| \`TOO_MANY_SUBSCRIPTIONS\`, \`OVERLOADED\`, \`DATABASE_UNAVAILABLE\` | try again later, or another replica |
| \`INTERNAL_SERVER_ERROR\` | a fault of this node; its log has the cause |

**Subscriptions** are server-sent events: \`hireCounted\`, \`tierChanged\` and \`breachChanged\`, with filters. Each event has a \`position\`; give it as \`after\` to
continue, on this node or on another one with the same database. \`reorg: true\` says that a reorg removed the events after \`position\`.

**Pages.** One request is enough for a page of an explorer or a dashboard:

| a page about | needs the query |
|---|---|
| the market | \`market { counts window allTime series(days) }\` |
| what is offered | \`capabilities(orderBy: HIRES) { nodes { listings sellers lowestPriceUsdc medianPriceUsdc } }\`, \`listings(where: {capability}, orderBy: PRICE)\` |
| several agents | \`agentsByAddress(addresses)\` |
| an agent's past | \`agent(address) { history(days) series(days) counterparties(as: BUYER) }\` |
| a cluster | \`cluster(id) { graph { nodes edges signals isWhole } }\`, \`clusters(orderBy: SIZE)\` |
| the basis of a reputation | \`agent(address) { familyMember independence { buyerFamilies { family paidUsdc returned keptUsdc } directHires unreceipted unansweredEscrows } }\` |
| a family of wallets | \`family(id) { founder members { reason payer sender amountUsdc tx } }\` |
| a ledger | \`ledgerEntries(ledger, recordType)\`, \`ledgerEntryByHash(hash)\`, \`checkpoints(ledger)\` |
| an escrow | \`escrow(id) { tx settlementTx steps { kind tx } }\` |
| the node | \`meta { token contracts { anchoredLedger escrows } }\` |
| its parameters | \`params { version body }\`, \`paramsHistory { nodes { ledger seq record { body signer time } } }\` |
| audits | \`auditOperators { nodes { address drawn failed unanswered owedUsdc } }\`, with the lists below |

Totals, series and prices are updated as the chain grows, so no query has to add them up. If an operator sells insights, figures by capability are null. The
\`history\` and \`series\` of an agent are null too.

**Audits** (SHP §8.3; [specification](specification.md) section 11). These names stay the same, because processes of operators and auditors depend on them.

| who | asks |
|---|---|
| an auditor: which hires it must judge now | \`auditAssignments(where: {auditor, open: true}) { nodes { auditedHire round attempt assignedAt due audit { … } } }\` |
| an operator: which audits wait for its decision | \`audits(where: {operator, status: CHALLENGED})\`, and of each audit \`rounds { attempts { verdict reasons { code detail } } }\` |
| an operator: which audits wait for an auditor | \`audits(where: {operator, status: ASSIGNING})\`. Audits with \`ASSIGNED\` show who is asked and until when |
| both: which hire an audit is about | of an audit \`auditedHire\` (as records name it), \`sellerAddress\`, \`listing { endpoint }\`, \`capability\`, \`paramsHash\`, \`resultHash\` |
| anybody: why this hire, and why this auditor | of an audit \`draw { tickHash words number }\`, of an assignment \`tickHash passedOver clusters\`; \`tallystick audits verify\` computes both again |
| an operator: how much it owes | of an auditor \`accruedUsdc paidUsdc owedUsdc\`; \`auditOperator(address) { owedUsdc periods { nodes { … } } }\` |
| anybody: how good auditors and operators are | of an auditor \`judged wrongFails wrongPasses errors { nodes { … } }\`; \`auditOperator(address) { unassigned unanswered historyDiffered … }\`, \`auditModes\`, \`auditModeChanges\` |
| anybody: who decided what | \`auditActuations { nodes { auditedHire decision reasons { code detail } } }\`, \`auditors(where: {operator, capability, active, assigned})\` |

The following queries were sent to the node that \`npm run demo -- --keep\` leaves running. The answers come from this node.`;
}

function section(example: Example, answers: Map<string, unknown>): string {
  const { title, text, query } = example;
  const answer = answers.get(title);
  const variables = answer === undefined ? undefined : fillVariables(example, answers);
  const parts = [`## ${title}`, `${text}.`, fenced("graphql", query)];
  if (variables) parts.push("with", fenced("json", compact(variables)));
  if (answer !== undefined) parts.push("answers", fenced("json", compact(answer)));
  return parts.join("\n\n");
}

function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

const WIDTH = 110;

/** Formats JSON. Everything that fits on one line is on one line. */
function compact(value: unknown, indent = ""): string {
  const line = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ");
  if (indent.length + line.length <= WIDTH || typeof value !== "object" || value === null) return line;
  const deeper = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((item) => compact(item, deeper))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${compact(item, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${parts.map((part) => deeper + part).join(",\n")}\n${indent}${close}`;
}
