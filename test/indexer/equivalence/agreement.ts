import { expect } from "chai";
import pg from "pg";
import type { DeriveEvent } from "tallystick-derive/events";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import { camelName, fieldNames } from "tallystick-derive/publishedFields";
import { relevantLog } from "tallystick-derive/relevant/relevantLog";
import type { Reputation } from "tallystick-derive/reputation";
import { snapshotOf } from "tallystick-derive/snapshot";
import { type NodeSnapshot, openNodeSnapshot } from "../../../indexer/nodeDatabase.ts";
import { numberedLines } from "../../../indexer/src/logLines.ts";
import { keyedLines } from "../../../indexer/src/positionKey.ts";
import { compareRows } from "../../../scripts/eventLog/compareRows.ts";
import { deriveLog } from "../../../scripts/eventLog/deriveLog.ts";
import { derivedState } from "../../derive/oracle/derivedState.ts";
import { oracle } from "../../derive/oracle/oracle.ts";
import { fetchWhenServed, type IndexerProcess } from "../support/indexerProcess.ts";

const SCHEMA = "tallystick";

/** A GraphQL selection of every published field. */
const FIELDS = ["address", "registeredBlock", "registeredTime", ...fieldNames.map(camelName)]
  .map((name) => (name === "avgCostPerCapability" ? `${name} { capability medianUsdc }` : name))
  .join(" ");

/** A node's digests by block. */
export type Digests = Map<number, string>;

/**
 * Compares a node's rows, its answers and the oracle with the derivation of the node's own log.
 *
 * @param forOracle chooses the events that the oracle reads, because the oracle is slow
 * @returns the log, and the rows and the digest of every tick as derived offline
 */
export async function expectAgreement(
  databaseUrl: string,
  indexer: IndexerProcess,
  forOracle = (events: DeriveEvent[]) => events,
): Promise<{ lines: string[]; digests: Digests; store: MemoryStore }> {
  const snapshot = await openNodeSnapshot({ databaseUrl, databaseSchema: SCHEMA });
  try {
    const lines = await logOf(snapshot);
    const { store } = await deriveLog(eachOf(lines));
    const { first } = await compareRows(snapshot, store, 5);
    expect(first, "rows of the node").to.deep.equal([]);
    const derived = snapshotOf(store);
    await expectNumbered(databaseUrl, lines);
    expect(await answeredAgents(indexer), "agents over GraphQL").to.deep.equal(
      Object.entries(derived.agents).map(([address, it]) => asAnswered(address, it)),
    );
    const events: DeriveEvent[] = lines.map(parseEvent);
    expect(derivedState(derived, store), "fields and clusters by the oracle").to.deep.equal(
      oracle(forOracle(events)),
    );
    // Without this check, empty logs would agree too. The check looks at rows, because all events may be outside of the
    // window by now.
    const happened = store.rows("hire").size + store.rows("cluster").size;
    expect(happened, "hires and clusters").to.be.greaterThan(0);
    const digests = new Map([...store.rows("digest").values()].map((it) => [it.block, it.digest]));
    return { lines, digests, store };
  } finally {
    await snapshot.close();
  }
}

/**
 * Compares a node that reads only the transfers that matter with a node that has all transfers. The digests at every
 * tick must be equal. The log must equal, line by line, the relevant log that is made from the log of all transfers.
 *
 * @param all the log and digests of the node with all transfers, up to a tick
 */
export async function expectRelevant(
  databaseUrl: string,
  node: IndexerProcess,
  all: { lines: string[]; digests: Digests },
): Promise<void> {
  const { lines, digests } = await historyOf(databaseUrl);
  const expected = await relevantEvents(all.lines);
  for (const [n, line] of expected.entries()) {
    expect(JSON.parse(lines[n] ?? "null"), `line ${n + 1}`).to.deep.equal(line);
  }
  expect(lines).to.have.length(expected.length);
  expect(digests, "digests where only the transfers that matter are read").to.deep.equal(all.digests);
  await expectNumbered(databaseUrl, lines);
  await expectPages(node, lines, digests);
  const snapshot = await openNodeSnapshot({ databaseUrl, databaseSchema: SCHEMA });
  try {
    const { store } = await deriveLog(eachOf(lines));
    expect((await compareRows(snapshot, store, 5)).first, "its rows").to.deep.equal([]);
  } finally {
    await snapshot.close();
  }
}

/** The relevant log that is made from the lines of a log of all transfers. */
export async function relevantEvents(lines: string[]): Promise<DeriveEvent[]> {
  const expected: DeriveEvent[] = [];
  for await (const line of relevantLog(lines.map(parseEvent))) expected.push(line);
  return expected;
}

/**
 * Compares the final pages of the open log with the log, and the served digests with the node's digests and with their
 * lines in the log.
 */
async function expectPages(node: IndexerProcess, lines: string[], digests: Digests): Promise<void> {
  const page: string[] = [];
  for (let last = 1; page.length < last; ) {
    const response = await fetchWhenServed(`${node.url}/v1/events?after=${page.length}&limit=50`);
    last = Number(/last=(\d+)/.exec(response.headers.get("tallystick-lines") ?? "")?.[1]);
    const text = await response.text();
    expect(text, `the lines after ${page.length} of ${last}`).to.not.equal("");
    page.push(...text.trimEnd().split("\n"));
  }
  expect(page).to.deep.equal(lines.slice(0, page.length));
  const answer = await (await fetchWhenServed(`${node.url}/v1/digests?limit=5000`)).json();
  const final = answer as { digests: { block: number; digest: string; line: number }[] };
  for (const { block, digest, line } of final.digests) {
    expect(digest).to.equal(digests.get(block));
    expect(JSON.parse(lines[line - 1] ?? "null"), `line ${line}`).to.include({ kind: "tick", block });
  }
  expect(final.digests).to.not.have.length(0);
}

/** Compares the line numbers that a node stores with the lines of its log. The node finds pages by these numbers. */
export async function expectNumbered(databaseUrl: string, lines: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(`SELECT id, line::int FROM ${SCHEMA}.log_line ORDER BY line`);
    expect(rows, "numbered lines").to.deep.equal(numberedLines(0, keyedLines(lines.map(parseEvent))));
    const length = await client.query(`SELECT lines::int FROM ${SCHEMA}.log_length`);
    expect(length.rows, "length of the log").to.deep.equal([{ lines: lines.length }]);
  } finally {
    await client.end();
  }
}

/** A node's event log and its digest at every tick. */
export async function historyOf(databaseUrl: string): Promise<{ lines: string[]; digests: Digests }> {
  const snapshot = await openNodeSnapshot({ databaseUrl, databaseSchema: SCHEMA });
  try {
    const digests: Digests = new Map();
    for await (const { block, digest } of snapshot.rows("digest")) digests.set(block, digest);
    return { lines: await logOf(snapshot), digests: new Map([...digests].sort(([a], [b]) => a - b)) };
  } finally {
    await snapshot.close();
  }
}

/** A killed node keeps its schema locked until its heartbeat is 25 seconds old. This makes the heartbeat old. */
export async function letLockExpire(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`UPDATE ${SCHEMA}._ponder_meta SET value = jsonb_set(value, '{heartbeat_at}', '0')`);
  await client.end();
}

async function logOf(snapshot: NodeSnapshot): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of snapshot.eventLog()) lines.push(line);
  return lines;
}

async function* eachOf<T>(values: T[]): AsyncGenerator<T> {
  yield* values;
}

type Answered = { address: string; avgCostPerCapability: { capability: string; medianUsdc: string }[] };

async function answeredAgents(indexer: IndexerProcess): Promise<Answered[]> {
  const all: Answered[] = [];
  for (let after: string | null = null; ; ) {
    type Page = { agents: { nodes: Answered[]; pageInfo: { hasNextPage: boolean; endCursor: string } } };
    const { agents }: Page = await indexer.query<Page>(
      `query ($after: String) { agents(first: 20, after: $after) { nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } }`,
      { after },
    );
    all.push(...agents.nodes);
    if (!agents.pageInfo.hasNextPage) break;
    after = agents.pageInfo.endCursor;
  }
  return all.sort((a, b) => (a.address < b.address ? -1 : 1));
}

/** An agent's fields as GraphQL spells them. */
function asAnswered(address: string, { avg_cost_per_capability: costs, ...fields }: Reputation): object {
  const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return {
    address,
    ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [camel(name), value])),
    avgCostPerCapability: Object.entries(costs).map(([capability, medianUsdc]) => ({
      capability,
      medianUsdc,
    })),
  };
}
