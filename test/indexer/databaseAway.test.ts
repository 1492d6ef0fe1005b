import { execFileSync } from "node:child_process";
import { expect } from "chai";
import { WebSocket } from "ws";
import { hostileRequests } from "./support/hostileRequests.ts";
import { type IndexerProcess, startIndexer } from "./support/indexerProcess.ts";
import { type LonelyIndexer, startLonelyIndexer } from "./support/lonelyIndexer.ts";

const agent = `0x${"ab".repeat(20)}`;
const query = (text: string) => ({ query: text });

/** Routes that read the database, each with its body if it is a POST. */
const ROUTES: [path: string, body?: object][] = [
  ["/ready"],
  ["/status"],
  ["/graphql", query("{ meta { block blockedAtSegment { ledger } } }")],
  ["/graphql", query("{ agents { nodes { id } } }")],
  [`/graphql?query=${encodeURIComponent("{ clusters { nodes { id } } }")}`],
  ["/v1/search", { capability: "text.translate" }],
  [`/v1/agents/${agent}/reputation`],
  [`/v1/agents/${agent}/cluster`],
  [`/v1/agents/${agent}/listings`],
  [`/v1/agents/${agent}/receipts`],
  ["/v1/params"],
  ["/v1/insights/trends"],
];

describe("a node among strangers, and without its Postgres", function () {
  this.timeout(600_000);
  this.slow(60_000);
  let node: LonelyIndexer;
  let replica: IndexerProcess;

  before(async () => {
    // There is no limit of points, so that the hostile requests reach the code behind the limit.
    node = await startLonelyIndexer({ SETTLEMENT_URL: "http://127.0.0.1:9", POINTS_PER_ADDRESS: "0" });
    replica = await startIndexer(node.supervisor, node.folder, node.environment, "replica", "serve");
    await untilServed();
  });
  after(() => node?.close());

  hostileRequests(() => node);

  const ask = async (url: string, [path, body]: (typeof ROUTES)[number]) => {
    // Ponder's own routes wait for minutes without a database. The time limit here only distinguishes an
    // answer from no answer.
    const signal = AbortSignal.timeout(30_000);
    const response = await fetch(`${url}${path}`, {
      signal,
      ...(body && {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      }),
    });
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      text: await response.text(),
    };
  };
  const nodes = () => [node.indexer, replica];

  async function untilServed(): Promise<void> {
    for (const { url, until } of nodes()) {
      for (const route of ROUTES) {
        await until(`${route[0]} to be served again`, async () => {
          const { status, text } = await ask(url, route);
          return (status === 200 || status === 404) && !text.includes('"errors"');
        });
      }
    }
  }

  async function refusedEverywhere(): Promise<void> {
    for (const { url, until } of nodes()) {
      await until("the node to notice", async () => (await ask(url, ["/ready"])).status === 503);
      const answers = await Promise.all(ROUTES.map((route) => ask(url, route)));
      for (const [n, { status, retryAfter, text }] of answers.entries()) {
        expect(status, `${ROUTES[n]} ${text}`).to.equal(503);
        expect(Number(retryAfter), `${ROUTES[n]}`).to.be.above(0);
      }
      expect((await ask(url, ["/health"])).status).to.equal(200);
      expect((await ask(url, ["/metrics"])).status).to.equal(200);
      expect((await ask(url, ["/openapi.json"])).status).to.equal(200);
      const socket = new WebSocket(`${url.replace("http", "ws")}/v1/stream`);
      const refusal = await new Promise<number | undefined>((resolve) => {
        socket.on("unexpected-response", (_, response) => resolve(response.statusCode));
        socket.on("error", () => {});
        socket.on("open", () => resolve(101));
      });
      expect(refusal).to.equal(503);
    }
  }

  /**
   * Sends a signal to all processes of Postgres, also those of its connections. If only the first process stopped, open
   * connections would still answer.
   */
  function signalPostgres(signal: "STOP" | "CONT"): void {
    const { pid } = node.postgres;
    const children = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map(Number);
    for (const it of [pid, ...children]) {
      try {
        process.kill(it, `SIG${signal}`);
      } catch (error) {
        // A process of a connection may have ended since it was listed.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  }

  it("answers 503 with Retry-After while Postgres accepts connections but never answers, and serves when Postgres continues", async () => {
    signalPostgres("STOP");
    try {
      await refusedEverywhere();
    } finally {
      signalPostgres("CONT");
    }
    await untilServed();
  });

  it("answers 503 with Retry-After while Postgres is stopped, and serves and indexes after the restart of Postgres", async () => {
    await node.supervisor.stop("postgres");
    await refusedEverywhere();
    await refusedEverywhere();
    await node.restartPostgres();
    await untilServed();
    await node.chain.client.mine({ blocks: 1 });
    await node.indexer.untilTick(await node.chain.client.getBlockNumber());
    expect(node.indexer.log() + replica.log()).to.not.match(
      /uncaughtException|unhandledRejection|internal error/,
    );
  });
});
