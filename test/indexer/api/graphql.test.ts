import { expect } from "chai";
import type { Hono } from "hono";
import type { Reputation } from "tallystick-derive/reputation";
import type { Snapshot } from "tallystick-derive/snapshot";
import { createApi } from "../../../indexer/api/app.ts";
import type { BlockedSegment, BlockedTransfers } from "../../../indexer/operations.ts";
import * as schema from "../../../indexer/ponder.schema.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { testDatabase } from "../../support/testDatabase.ts";

type Answer = {
  data?: Record<string, unknown> | null;
  errors?: { message: string; extensions: { code: string } }[];
};

const [busy, funder, ring] = [wallet(1), wallet(99), [11, 12, 13, 14, 15].map(wallet)];
const node = { chainId: 31_337, token: `0x${"70".repeat(20)}` };

/** Forty hires of one seller, escrows with every outcome, a ring of five, and two clusters that were merged. */
function story(): EventLog {
  const log = new EventLog();
  for (let n = 0; n < 7; n++) log.after(1).listing(busy, `text.task${n}`, { price_usdc: `0.${n + 1}` });
  for (let n = 0; n < 40; n++) {
    const buyer = wallet(20 + (n % 8));
    const options = { passed: n % 20 !== 0, capability: `text.task${n % 7}`, latency_ms: 100 + n };
    const receipt = log.after(1).hire(busy, buyer, options);
    if (n < 6) log.record("rating", buyer, { receipt, side: "buyer", stars: 1 + (n % 5) });
  }
  const escrows = Array.from({ length: 5 }, (_, n) => log.after(1).deposit(busy, wallet(20 + n)));
  const [released = "0x", refunded = "0x", delivered = "0x", silent = "0x"] = escrows;
  log.after(1).delivered(released).released(released);
  log.after(1).delivered(refunded).refunded(refunded, wallet(21));
  log.after(1).delivered(delivered).timedOut(delivered, true);
  log.after(1).timedOut(silent);
  for (const member of ring) log.after(1).transfer(funder, member, 5_000_000);
  for (const member of ring) log.after(1).listing(member, "code.review");
  for (const at of [30, 40]) {
    const members = [0, 1, 2, 3].map((n) => wallet(at + n));
    for (const member of members) log.after(1).transfer(wallet(100 + at), member, 5_000_000);
    for (const member of members) log.after(1).listing(member, "data.scrape");
  }
  // A wallet that funds members of both clusters joins them.
  for (const member of [30, 31, 40, 41].map(wallet)) log.after(1).transfer(wallet(98), member, 5_000_000);
  return log.after(60).tick();
}

describe("GraphQL", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: Hono;
  let blocked: BlockedSegment | null = null;
  let late: BlockedTransfers | null = null;
  let derived: Snapshot & Awaited<ReturnType<EventLog["derive"]>>;

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    const operations = { readBlocked: async () => blocked, readBlockedTransfers: async () => late };
    app = createApi({ db: database.db, operations, node, settlementUrl: null });
  });
  after(async () => {
    await database?.close();
  });

  async function post(query: string, variables: object = {}): Promise<{ status: number; body: Answer }> {
    const response = await app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    return { status: response.status, body: (await response.json()) as Answer };
  }

  async function ask<Data>(query: string, variables: object = {}): Promise<Data> {
    const { body } = await post(query, variables);
    expect(body.errors, JSON.stringify(body.errors)).to.equal(undefined);
    return body.data as Data;
  }

  async function codeOf(query: string, variables: object = {}): Promise<string | undefined> {
    const { body } = await post(query, variables);
    expect(body.errors, query).to.have.length.above(0);
    return body.errors?.[0]?.extensions.code;
  }

  it("answers before anything was derived", async () => {
    const answer = await ask(
      "{ meta { block time digest indexedBlock ledgers { id } blockedAtSegment { reason } } }",
    );
    const meta = { block: 0, time: 0, digest: null, indexedBlock: 0, ledgers: [], blockedAtSegment: null };
    expect(answer).to.deep.equal({ meta });
    expect(await ask("{ agents { nodes { id } } }")).to.deep.equal({ agents: { nodes: [] } });
  });

  describe("over a derived story", () => {
    before(async () => {
      const result = await story().derive();
      derived = result;
      await database.fill(result.store);
      await database.pool.query(
        "INSERT INTO _ponder_checkpoint (latest_checkpoint) VALUES ('1767225900' || lpad('31337', 16, '0') || lpad('77', 16, '0') || repeat('9', 33))",
      );
    });

    it("gives every agent the fields of the derivation", async () => {
      const camel = (name: string) => name.replaceAll(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
      // The query asks for every published field, so a field that is missing in the schema is an error.
      const [first] = Object.values(derived.agents as Record<string, Reputation>);
      const names = Object.keys(first as Reputation).map((name) =>
        name === "avg_cost_per_capability" ? `${camel(name)} { capability medianUsdc }` : camel(name),
      );
      const { agents } = await ask<{ agents: { nodes: Record<string, unknown>[] } }>(
        `{ agents(first: 100) { nodes { address ${names.join(" ")} } } }`,
      );
      const expected = Object.entries(derived.agents as Record<string, Reputation>).map(
        ([address, fields]) => ({
          address,
          ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [camel(name), value])),
          avgCostPerCapability: Object.entries(fields.avg_cost_per_capability).map(
            ([capability, medianUsdc]) => ({
              capability,
              medianUsdc,
            }),
          ),
        }),
      );
      expect(agents.nodes).to.have.length(expected.length);
      for (const agent of expected) {
        expect(agents.nodes.find(({ address }) => address === agent.address)).to.deep.equal(agent);
      }
      expect(agents.nodes.find(({ address }) => address === busy)).to.deep.include({
        last30dHireCountRaw: 43,
      });
    });

    it("finds an agent by any spelling of its address, and gives null for an unknown address", async () => {
      const spelled = `0x${wallet(0xabc).slice(2).toUpperCase()}`;
      expect(await ask("query ($a: Address!) { agent(address: $a) { id } }", { a: spelled })).to.deep.equal({
        agent: null,
      });
      const query =
        "query ($a: Address!) { agent(address: $a) { id cluster { id } listings { nodes { capability priceUsdc } } } }";
      const { agent } = await ask<{ agent: { id: string; listings: { nodes: object[] } } }>(query, {
        a: busy,
      });
      expect(agent.listings.nodes).to.have.length(7);
      expect(agent.listings.nodes[2]).to.deep.equal({ capability: "text.task2", priceUsdc: "0.3" });
    });

    it("gives the position of the node", async () => {
      await database.database.insert(schema.token).values({ id: node.token, firstBlock: 17 });
      const { meta } = await ask<{ meta: Record<string, unknown> }>(
        "{ meta { block time digest indexedBlock chainId token { address firstBlock } paramsVersion } }",
      );
      expect(meta).to.deep.equal({
        block: derived.asOf.block,
        time: derived.asOf.time,
        digest: derived.digest,
        indexedBlock: 77,
        chainId: 31_337,
        token: { address: node.token, firstBlock: 17 },
        paramsVersion: 1,
      });
    });

    it("lists the digest of every tick, of some blocks or of all", async () => {
      type Answer = { digests: { totalCount: number; nodes: Record<string, unknown>[] } };
      const fields = "totalCount nodes { block time digest paramsVersion }";
      const all = [...derived.store.rows("digest").values()]
        .map(({ block, time, digest, paramsVersion }) => ({ block, time, digest, paramsVersion }))
        .reverse();
      const { digests } = await ask<Answer>(`{ digests(first: 100) { ${fields} } }`);
      expect(digests).to.deep.equal({ totalCount: all.length, nodes: all });
      const at = all[0]?.block ?? 0;
      const one = await ask<Answer>(`{ digests(from: ${at}, to: ${at}) { ${fields} } }`);
      expect(one.digests).to.deep.equal({ totalCount: 1, nodes: all.slice(0, 1) });
      const early = await ask<Answer>(
        `{ digests(from: 0, to: ${at - 1}, orderDirection: ASC) { ${fields} } }`,
      );
      expect(early.digests.nodes).to.deep.equal(all.slice(1).reverse());
    });

    it("names the segment that the node waits for", async () => {
      const ledger = `0x${"1e".repeat(32)}`;
      blocked = {
        ledger,
        oldSize: 5n,
        newSize: 2n ** 60n,
        block: 9,
        since: 1_767_225_600,
        attempts: 3,
        reason: "gone",
      };
      try {
        const { meta } = await ask<{ meta: object }>(
          "{ meta { blockedAtSegment { ledger from to block since attempts reason } } }",
        );
        const { since, attempts, reason, block } = blocked;
        const segment = { ledger, from: "5", to: String(2n ** 60n), block, since, attempts, reason };
        expect(meta).to.deep.equal({ blockedAtSegment: segment });
      } finally {
        blocked = null;
      }
    });

    it("names the wallets whose transfers do not add up", async () => {
      const wallet = `0x${"0a".repeat(20)}`;
      late = { block: 9, since: 1_767_225_600, attempts: 3, reason: "5 atomic units are missing", wallet };
      try {
        const { meta } = await ask<{ meta: object }>(
          "{ meta { blockedAtTransfers { block since attempts reason wallet } } }",
        );
        expect(meta).to.deep.equal({ blockedAtTransfers: late });
      } finally {
        late = null;
      }
    });

    it("gives escrows with their result, and hires with their weight", async () => {
      const { escrows } = await ask<{ escrows: { nodes: { status: string; hire: object | null }[] } }>(`{
        escrows { nodes { status amountUsdc toSellerUsdc refundedBy delivered payee arbiter hire { outcome evidence weight } } } }`);
      expect(escrows.nodes.map(({ status }) => status)).to.deep.equal([
        "HELD",
        "TIMED_OUT",
        "TIMED_OUT",
        "REFUNDED",
        "RELEASED",
      ]);
      expect(escrows.nodes[2]).to.deep.include({
        delivered: true,
        amountUsdc: "0.50",
        arbiter: null,
        payee: busy,
      });
      expect(escrows.nodes[2]?.hire).to.deep.equal({ outcome: "NEUTRAL", evidence: "ESCROW", weight: 1 });
    });

    it("narrows hires and escrows by party", async () => {
      const count = async (where: string) => {
        const { hires } = await ask<{ hires: { nodes: object[] } }>(
          `{ hires(first: 100, where: {${where}}) { nodes { id } } }`,
        );
        return hires.nodes.length;
      };
      expect(await count(`buyer: "${wallet(20)}"`)).to.equal(6);
      expect(await count(`buyer: "${wallet(20)}", seller: "${busy}"`)).to.equal(6);
      expect(await count(`buyer: "${busy}"`)).to.equal(0);
      const { escrows } = await ask<{ escrows: { nodes: object[] } }>(
        `{ escrows(where: {buyer: "${wallet(24)}"}) { nodes { status } } }`,
      );
      expect(escrows.nodes).to.deep.equal([{ status: "HELD" }]);
    });

    it("leads from a merged cluster to the cluster that has its members now, and lists the members of both", async () => {
      const merged = Object.entries(derived.clusters).find(([, it]) => it.merged_into !== null);
      const [id = "", { merged_into: into = null } = {}] = merged ?? [];
      const { cluster } = await ask<{
        cluster: { id: string; size: number; members: { nodes: { id: string }[] } };
      }>("query ($id: ID!) { cluster(id: $id) { id size members { nodes { id } } } }", { id });
      expect(cluster).to.include({ id: into, size: 8 });
      const members = [30, 31, 32, 33, 40, 41, 42, 43].map(wallet);
      expect(cluster.members.nodes.map((it) => it.id)).to.have.members(members);
      for (const clusterId of [id, into]) {
        const { agents } = await ask<{ agents: { nodes: { id: string }[] } }>(
          "query ($where: AgentFilter!) { agents(first: 100, where: $where) { nodes { id } } }",
          { where: { clusterId } },
        );
        expect(agents.nodes.map((it) => it.id)).to.have.members(members);
      }
      expect(
        await ask('{ cluster(id: "clst_none") { id } hire(id: "x") { id } escrow(id: "x") { id } }'),
      ).to.deep.equal({
        cluster: null,
        hire: null,
        escrow: null,
      });
    });

    describe("connections", () => {
      type Page = {
        edges: { cursor: string; node: { id: string } }[];
        pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string; endCursor: string };
      };
      const selection =
        "{ edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }";
      const idsOf = ({ edges }: Page) => edges.map(({ node }) => node.id);
      const agent = () => `agent(address: "${busy}")`;
      const cluster = () => {
        const ringId = Object.entries(derived.clusters).find(([, it]) =>
          it.members.includes(wallet(11)),
        )?.[0];
        return `cluster(id: "${ringId}")`;
      };

      /**
       * A field, the object that has it, the number of rows in the story, and further arguments. Without an object, the
       * field is a field of Query.
       */
      const connections: [field: string, parent: (() => string) | undefined, rows: number, more?: string][] =
        [
          ["agents", undefined, 22],
          ["clusters", undefined, 2],
          ["hires", undefined, 43],
          ["escrows", undefined, 5],
          ["tierChanges", undefined, 1, `agent: "${busy}", `],
          ["hires", agent, 43],
          ["listings", agent, 7],
          ["ratings", agent, 6],
          ["tierChanges", agent, 1],
          ["members", cluster, 5],
        ];

      for (const [field, parent, rows, more = ""] of connections) {
        const read = async (args: string): Promise<Page> => {
          const page = `page: ${field}(${more}${args}) ${selection}`;
          if (!parent) return (await ask<{ page: Page }>(`{ ${page} }`)).page;
          return (await ask<{ parent: { page: Page } }>(`{ parent: ${parent()} { ${page} } }`)).parent.page;
        };
        const owner = parent === undefined ? "Query" : parent === agent ? "an agent" : "a cluster";

        it(`return each row of ${field} of ${owner} once, in one order, on pages forward and backward`, async () => {
          const whole = await read("first: 100");
          expect(new Set(idsOf(whole)).size).to.equal(rows);
          expect(whole.edges).to.have.length(rows);
          expect(whole.pageInfo).to.include({ hasNextPage: false, hasPreviousPage: false });

          const forward: string[] = [];
          for (let page = await read("first: 3"); ; ) {
            forward.push(...idsOf(page));
            if (!page.pageInfo.hasNextPage) break;
            page = await read(`first: 3, after: "${page.pageInfo.endCursor}"`);
          }
          expect(forward).to.deep.equal(idsOf(whole));

          const backward: string[] = [];
          for (let page = await read("last: 3"); ; ) {
            backward.unshift(...idsOf(page));
            if (!page.pageInfo.hasPreviousPage) break;
            page = await read(`last: 3, before: "${page.pageInfo.startCursor}"`);
          }
          expect(backward).to.deep.equal(forward);
        });
      }

      it("refuse more than a hundred rows, and arguments that contradict each other", async () => {
        expect(await codeOf("{ agents(first: 101) { nodes { id } } }")).to.equal("PAGE_TOO_LARGE");
        expect(await codeOf("{ agents(last: 101) { nodes { id } } }")).to.equal("PAGE_TOO_LARGE");
        expect(await codeOf("{ agents(first: -1) { nodes { id } } }")).to.equal("INVALID_ARGUMENT");
        expect(await codeOf("{ agents(first: 1, last: 1) { nodes { id } } }")).to.equal("INVALID_ARGUMENT");
        expect(await codeOf('{ agents(first: 1, before: "WzFd") { nodes { id } } }')).to.equal(
          "INVALID_ARGUMENT",
        );
        expect(await ask("{ agents(first: 0) { nodes { id } } }")).to.deep.equal({ agents: { nodes: [] } });
      });

      it("refuse cursors of other lists", async () => {
        const { hires } = await ask<{ hires: Page }>(`{ hires(first: 1) ${selection} }`);
        const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
        const foreign = ["", "x", "null", hires.pageInfo.endCursor, encode([1, 2]), encode([1.5, 2, "a"])];
        for (const cursor of [
          ...foreign,
          encode([1, 2, "a\0"]),
          encode({ a: 1 }),
          encode([1, 2, "a", "b"]),
        ]) {
          const query = "query ($c: String) { agents(after: $c) { nodes { id } } }";
          expect(await codeOf(query, { c: cursor }), cursor).to.equal("INVALID_CURSOR");
        }
      });
    });

    it("looks up clusters and agents together, not one by one", async () => {
      await ask("{ agents { nodes { id } } }");
      database.statements = 0;
      await ask(
        "{ hires(first: 40) { nodes { seller { id cluster { id size } } buyer { id clusterId } } } }",
      );
      expect(database.statements).to.be.at.most(4);
    });
  });
});
