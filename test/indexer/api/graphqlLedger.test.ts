import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { eq } from "drizzle-orm";
import { fromHex, type Hex } from "tallystick-protocol/hex";
import { verifyInclusion } from "tallystick-protocol/merkle/verifyInclusion";
import { examples } from "../../../indexer/api/graphql/examples.ts";
import * as schema from "../../../indexer/ponder.schema.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { documentOf } from "../../../tools/graphqlDocs/documentOf.ts";
import { fillVariables } from "../../../tools/graphqlDocs/fillVariables.ts";
import { type ApiStory, cast, LEDGER, openApiStory } from "../support/apiStory.ts";

type Nodes<T> = { nodes: T[] };
const { busy, hub } = cast;

describe("GraphQL: ledger, nodes and parameters of a market", () => {
  let story: ApiStory;
  before(async () => {
    story = await openApiStory();
  });

  describe("ledger", () => {
    it("proves any entry against the anchored root", async () => {
      const { ledger } = await story.ask<{ ledger: { size: number; root: string; origin: string } }>(
        `{ ledger(id: "${LEDGER}") { size root origin } }`,
      );
      expect(ledger.origin).to.equal("test/story");
      for (const seq of [0, 1, 15, 16, 17, ledger.size - 1]) {
        const { ledgerEntry } = await story.ask<{
          ledgerEntry: {
            inclusionProof: {
              leafHash: Hex;
              index: number;
              size: number;
              root: Hex;
              hashes: Hex[];
              checkpoint: { seq: string };
            };
          };
        }>(
          `{ ledgerEntry(ledger: "${LEDGER}", seq: ${seq}) { inclusionProof { leafHash index size root hashes checkpoint { seq note } } } }`,
        );
        const { leafHash, index, size, root, hashes, checkpoint } = ledgerEntry.inclusionProof;
        expect({ index, size, root }).to.deep.equal({ index: seq, size: ledger.size, root: ledger.root });
        const proof = hashes.map((it) => fromHex(it));
        const parts = { leafHash: fromHex(leafHash), index, size, proof, root: fromHex(root) };
        expect(verifyInclusion(parts)).to.equal(true);
        expect(verifyInclusion({ ...parts, index: index + 1 })).to.equal(false);
        expect(checkpoint.seq).to.equal("3");
      }
    });

    it("gives a record's body as it was signed, and null after the ledger's end", async () => {
      const answer = await story.ask<{ ledgerEntry: { record: { body: { agent_id: string } } } }>(
        `{ ledgerEntry(ledger: "${LEDGER}", seq: 0) { type record { type body signature } } }`,
      );
      expect(answer.ledgerEntry.record.body.agent_id).to.equal(busy);
      expect(await story.ask(`{ ledgerEntry(ledger: "${LEDGER}", seq: 99999) { id } }`)).to.deep.equal({
        ledgerEntry: null,
      });
    });

    it("gives an entry of generic work, which is not a record, and a record that has no type", async () => {
      const { ledger } = await story.ask<{ ledger: { size: number; head: string } }>(
        `{ ledger(id: "${LEDGER}") { size head } }`,
      );
      const entryAt = async (seq: number) =>
        story.ask(`{ ledgerEntry(ledger: "${LEDGER}", seq: ${seq}) { id seq hash type record { reason } } }`);
      const seq = ledger.size - 1;
      expect(await entryAt(seq)).to.deep.equal({
        ledgerEntry: { id: `${LEDGER}/${seq}`, seq, hash: ledger.head, type: "settlement", record: null },
      });
      const nameless = {
        id: `${LEDGER}/70000`,
        ledger: LEDGER,
        seq: 70_000,
        hash: "7e".repeat(32),
        type: "",
      };
      const rest = { signer: busy, status: "invalid", reason: "no type", block: 1, time: 1, log: 1 };
      await story.database.database.insert(schema.record).values({ ...nameless, ...rest });
      try {
        expect(await entryAt(70_000)).to.deep.equal({
          ledgerEntry: {
            id: nameless.id,
            seq: 70_000,
            hash: nameless.hash,
            type: null,
            record: { reason: "no type" },
          },
        });
      } finally {
        await story.database.database.delete(schema.record).where(eq(schema.record.id, nameless.id));
      }
    });

    it("lists checkpoints of one ledger or all, the latest first", async () => {
      const seqs = async (args: string) => {
        const { checkpoints } = await story.ask<{
          checkpoints: Nodes<{ seq: string; note: string; followed: boolean }>;
        }>(`{ checkpoints${args} { nodes { seq note followed } } }`);
        expect(checkpoints.nodes[0]?.note).to.match(/^test\/story\n\d+\n[\w+/]{43}=\n$/);
        return checkpoints.nodes.map(({ seq }) => seq);
      };
      expect(await seqs("")).to.deep.equal(["3", "2", "1"]);
      expect(await seqs(`(ledger: "${LEDGER}")`)).to.deep.equal(["3", "2", "1"]);
    });
  });

  it("finds every kind of object again by its id", async () => {
    const found = await story.ask<Record<string, never>>(`{
      agents(first: 1) { nodes { id ratings(first: 1) { nodes { id } } listings(first: 1) { nodes { id } } receipts(first: 1) { nodes { id } } } }
      clusters(first: 1) { nodes { id } } hires(first: 50) { nodes { id } } escrows(first: 1) { nodes { id } }
      tierChanges(first: 1) { nodes { id } } checkpoints(first: 1) { nodes { id } } ledgerEntry(ledger: "${LEDGER}", seq: 2) { id }
    }`);
    const ids = [...JSON.stringify(found).matchAll(/"id":"([^"]+)"/g)].map(([, id]) => id);
    const types = new Set<string>();
    for (const id of ids) {
      const { node } = await story.ask<{ node: { id: string; __typename: string } }>(
        "query ($id: ID!) { node(id: $id) { id __typename } }",
        { id },
      );
      expect(node?.id, id).to.equal(id);
      types.add(node.__typename);
    }
    expect([...types].sort()).to.deep.equal([
      "Agent",
      "Checkpoint",
      "Cluster",
      "Escrow",
      "Hire",
      "LedgerEntry",
      "Listing",
      "Rating",
      "Receipt",
      "TierChange",
    ]);
    for (const id of ["", "x", "0x", busy.slice(1), "\0", `${LEDGER}/99999`, "clst_0\0"]) {
      expect(await story.ask("query ($id: ID!) { node(id: $id) { id } }", { id }), id).to.deep.equal({
        node: null,
      });
    }
  });

  it("gives the parameters in force", async () => {
    const { params } = await story.ask<{ params: Record<string, unknown> }>(
      "{ params { version hubs minHireUsdc tier2MinSuccessRate { numerator denominator } escrows { address provider } } }",
    );
    expect(params).to.deep.equal({
      version: 1,
      hubs: [hub],
      minHireUsdc: "0.001",
      tier2MinSuccessRate: { numerator: 9, denominator: 10 },
      escrows: [],
    });
  });

  it("gives all parameters in one value, like /v1/params, and no records, because no record has set them", async () => {
    const { params, paramsHistory } = await story.ask<{
      params: { version: number; body: object };
      paramsHistory: { totalCount: number };
    }>("{ params { version body } paramsHistory { totalCount } }");
    const told = (await (await story.app.request("/v1/params")).json()) as { params: object };
    expect(params).to.deep.equal({ version: 1, body: told.params });
    expect(paramsHistory.totalCount).to.equal(0);
  });

  describe("needs a number of statements that does not grow with the rows:", () => {
    /**
     * Each query with the largest number of its statements: one for each list, one for each look-up of many rows, and
     * one for each step of a merge.
     */
    const queries: [query: string, most: number][] = [
      [
        "{ agents(first: 10) { nodes { hires(first: 10) { nodes { seller { id } buyer { id cluster { id size } } } } } } }",
        4,
      ],
      [
        "{ agents(first: 20) { nodes { listings(first: 3) { nodes { id } } ratings(first: 2) { nodes { hire { buyer { trustTier } } } } } } }",
        5,
      ],
      [
        "{ hires(first: 50) { nodes { payment { log } escrow { id } receipt { entry { record { type } } } ratings { stars } } } }",
        7,
      ],
      [
        "{ clusters(first: 5) { nodes { members(first: 20) { nodes { hires(first: 5) { nodes { id } } } } } } }",
        4,
      ],
      [
        "{ agents(first: 20) { nodes { explain(field: SUCCESS_RATE) { value hires(first: 2) { totalCount nodes { id buyer { id } } } } } } }",
        8,
      ],
    ];
    for (const [query, most] of queries) {
      it(`at most ${most} for ${query.slice(0, 60)}…`, async () => {
        story.database.statements = 0;
        const answer = await story.ask(query);
        expect(JSON.stringify(answer)).to.have.length.above(200);
        // One more statement reads the tick of the answer.
        expect(story.database.statements).to.be.at.most(most + 1);
      });
    }
  });

  describe("examples", () => {
    const answers = new Map<string, unknown>();
    for (const example of examples.filter(({ query }) => !query.startsWith("subscription"))) {
      it(`${example.title}: runs, and finds something`, async () => {
        const variables = fillVariables(example, answers);
        const answer = await story.ask<Record<string, unknown>>(example.query, variables);
        answers.set(example.title, answer);
        for (const [field, value] of Object.entries(answer)) {
          expect(value, field).to.not.equal(null);
          const { nodes } = value as { nodes?: unknown[] };
          if (nodes !== undefined) expect(nodes, field).to.have.length.above(0);
        }
      });
    }

    it("are in docs/graphql.md unchanged, each with an answer of the demo node (if not: npm run generate:graphql-docs)", async () => {
      const text = await readFile(`${repositoryRoot}/docs/graphql.md`, "utf8");
      const told = text.split(/^## /m).flatMap((part): [string, unknown][] => {
        const json = /\nanswers\n\n```json\n([^`]+)```/.exec(part)?.[1];
        return json === undefined ? [] : [[part.slice(0, part.indexOf("\n")), JSON.parse(json)]];
      });
      expect(told).to.have.length(examples.length - 1);
      expect(documentOf(new Map(told))).to.equal(text);
    });
  });
});
