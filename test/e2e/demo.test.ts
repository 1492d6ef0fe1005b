import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import pg from "pg";
import { actors } from "../../scripts/demo/actors.ts";
import { agentTable } from "../../scripts/demo/printResult.ts";
import { askGraphql, type MetaAnswer } from "../../scripts/demo/readBack.ts";
import { indexerService } from "../../scripts/demo/services.ts";
import { freePort } from "../../scripts/processes/freePort.ts";
import { openSupervisor } from "../../scripts/processes/openSupervisor.ts";
import { startService } from "../../scripts/processes/startService.ts";
import { waitUntil } from "../../scripts/processes/waitUntil.ts";
import { nodeToServe } from "../../tools/dev/nodeToServe.ts";
import { untilGone } from "../scripts/fixtures/gone.ts";
import { commandHere } from "../support/commandHere.ts";
import { SECOND_NODES } from "../support/secondNodes.ts";
import { type DemoResult, demoResult, type Run, runTallystick } from "./support/demoProcess.ts";
import { portalLies } from "./support/portalLies.ts";

describe("npm run demo", function () {
  this.timeout(900_000);
  let kept: Run;
  let demo: DemoResult;
  let folder: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-e2e-"));
    kept = runTallystick(["demo", "--keep", "--json"]);
    demo = await demoResult(kept);
  });

  after(async () => {
    kept.child.kill("SIGTERM");
    await kept.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command against the demo's node, which `--keep` leaves running. */
  async function command(...args: string[]): Promise<{ code: number | null; out: string }> {
    return await commandWith({ DATABASE_URL: demo.databaseUrl, DATABASE_SCHEMA: "tallystick" }, ...args);
  }

  async function commandWith(
    environment: { [name: string]: string },
    ...args: string[]
  ): Promise<{ code: number | null; out: string }> {
    const { code, out, err } = await commandHere(args, environment);
    return { code, out: `${out}${err}` };
  }

  it("has one seller in Tier 2, counts the ring's 20 hires as 4, and shows that the contract refuses a rewritten history", () => {
    const named = (name: string) => demo.agents.find((agent) => agent.name === name);
    expect(named("scribe")).to.include({ trustTier: 2 });
    expect(named("ring-1")).to.include({ trustTier: 0, last30dHireCount: 4, last30dHireCountRaw: 20 });
    const { size } = demo.ledger;
    expect(demo.rewrite.anchor.refusedWith).to.equal(`Inconsistent(OldRootMismatch, ${size}, ${size + 1})`);
  });

  it("has three audits: bad work failed twice and was rolled back, a false refund was found, and a correct refund stayed", () => {
    const verdictsOf = (name: string) => {
      const { address } = actors[name as "mirage" | "sterling" | "pewter"];
      const audit = demo.audits.find(({ sellerAddress }) => sellerAddress === address);
      const attempts = audit?.rounds.flatMap(({ attempts }) => attempts) ?? [];
      expect(new Set(attempts.map((it) => it.auditorAddress)).size).to.equal(attempts.length);
      return [audit?.status, ...attempts.map(({ verdict }) => verdict)];
    };
    expect(verdictsOf("mirage")).to.deep.equal(["ROLLED_BACK", "FAIL", "FAIL"]);
    expect(verdictsOf("sterling")).to.deep.equal(["PASSED", "PASS"]);
    expect(verdictsOf("pewter")).to.deep.equal(["FAILED", "FAIL", "FAIL"]);
  });

  it("has an SLA with one breach, which was disputed and upheld, and whose penalty is over", () => {
    const [sla, ...others] = demo.slas;
    expect(others).to.deep.equal([]);
    expect(sla).to.include({ name: "harbor", overallStatus: "compliant" });
    expect(sla?.breaches.map(({ steps }) => steps)).to.deep.equal([
      ["detected", "disputed", "upheld", "confirmed", "closed"],
    ]);
  });

  it("accepts no second decision about a hire that its operator rolled back", async () => {
    const { auditedHire = "" } = demo.audits.find(({ status }) => status === "ROLLED_BACK") ?? {};
    const words = ["audit-operator", "decide", auditedHire, "dismiss", "--reason", "other"];
    const settings = {
      AUDIT_NODE_URL: demo.url,
      AUDIT_OPERATOR_PRIVATE_KEY: actors.operator.privateKey,
    };
    const { code, out } = await commandWith(settings, ...words);
    expect(out).to.contain("conflicting_record");
    expect(code).to.equal(1);
  });

  it("tells other programs how to reach its node, while it runs", async () => {
    expect(await nodeToServe({ databaseUrl: demo.databaseUrl })).to.deep.equal({
      databaseUrl: demo.databaseUrl,
      databaseSchema: "tallystick",
      chainId: demo.deployment.chainId,
      token: demo.deployment.token,
      settlementUrl: demo.settlementUrl,
      ledgers: [demo.ledger.id],
    });
  });

  it("runs a chain whose clock moves on without transactions", async () => {
    const lastBlock = async () => {
      const body = { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["latest", false] };
      const headers = { "content-type": "application/json" };
      const response = await fetch(demo.rpcUrl, { method: "POST", headers, body: JSON.stringify(body) });
      const { result } = (await response.json()) as { result: { number: string; timestamp: string } };
      return { number: Number(result.number), ahead: Number(result.timestamp) - Date.now() / 1000 };
    };
    const first = await lastBlock();
    const later = await waitUntil(
      async () => {
        const block = await lastBlock();
        return block.number >= first.number + 2 && block;
      },
      { what: "two more blocks", withinMs: 120_000 },
    );
    // The chain's clock moved as far as the real clock, however long the two blocks took.
    expect(later.ahead).to.be.closeTo(first.ahead, 60);
  });

  it("runs a node whose rows all follow from its log", async () => {
    const { code, out } = await command("rederive");
    expect(out).to.contain("no difference");
    expect(code).to.equal(0);
  });

  it("notices when somebody changes one derived row by hand", async () => {
    const client = new pg.Client({ connectionString: demo.databaseUrl });
    await client.connect();
    // The test acts like an attacker who leaves no trace. Ponder's triggers do not notice the change.
    await client.query("SET session_replication_role = replica");
    const setTier = (tier: number) =>
      client.query("UPDATE tallystick.agent SET trust_tier = $1 WHERE id = $2", [
        tier,
        actors.rookie.address,
      ]);
    try {
      await setTier(2);
      const { code, out } = await command("rederive", "--json");
      expect(code).to.equal(1);
      const { differences, first } = JSON.parse(out);
      expect(differences).to.equal(1);
      expect(first[0]).to.include({ table: "agent", id: actors.rookie.address, column: "trustTier" });
    } finally {
      await setTier(0);
      await client.end();
    }
    expect((await command("rederive")).code).to.equal(0);
  });

  it("exports a log from which anyone derives the same digest", async () => {
    const file = path.join(folder, "events.jsonl");
    expect((await command("export", "-o", file)).code).to.equal(0);
    // The node continues, so its last digest changes soon.
    const { out } = await command("derive", file, "--at-block", String(demo.block));
    const derived = JSON.parse(out);
    expect(derived.digest).to.equal(demo.digest);
    expect(derived.agents[actors.scribe.address]).to.include({ trust_tier: 2, success_rate: 0.909090909 });
  });

  it("has a ledger that verifies; after one changed character, the verifier names the bad line", async () => {
    const good = await command("verify-ledger", demo.ledgerFile);
    expect(good.out).to.contain(`${demo.ledger.size}`).and.contain(demo.ledger.root);
    expect(good.code).to.equal(0);

    const lines = readFileSync(demo.ledgerFile, "utf8").split("\n");
    const changed = path.join(folder, "changed.jsonl");
    writeFileSync(changed, lines.with(54, lines[54]!.replace("swarmwage/v0.3", "swarmwage/v0.2")).join("\n"));
    const bad = await command("verify-ledger", changed);
    expect(bad.out).to.contain("line 55");
    expect(bad.code).to.equal(1);
  });

  const onSecond = SECOND_NODES ? it : () => {};
  onSecond(
    "gives the same digest on a second indexer that begins from nothing with the same chain and ledger",
    async () => {
      const supervisor = await openSupervisor();
      try {
        const url = new URL(demo.databaseUrl);
        const client = new pg.Client({ connectionString: demo.databaseUrl });
        await client.connect();
        await client.query("CREATE DATABASE second").finally(() => client.end());
        url.pathname = "/second";
        const port = await freePort();
        await startService(
          supervisor,
          indexerService({
            name: "second-indexer",
            port,
            logs: folder,
            databaseUrl: url.href,
            rpcUrl: demo.rpcUrl,
            settlementUrl: demo.settlementUrl,
            ledger: demo.ledger.id,
            operator: actors.operator.address,
            deployment: demo.deployment,
          }),
        );
        await waitUntil(
          async () => {
            const answer = await askGraphql<{ meta: MetaAnswer }>(
              `http://127.0.0.1:${port}`,
              "{ meta { block digest } }",
            );
            return answer.meta.block >= demo.block;
          },
          { what: "the second indexer", withinMs: 120_000 },
        );
        // The chain continues, so the digest of the demo's block is now one of many.
        const second = new pg.Client({ connectionString: url.href });
        await second.connect();
        const digests = await second
          .query("SELECT digest FROM tallystick.digest WHERE block = $1", [demo.block])
          .finally(() => second.end());
        expect(digests.rows).to.deep.equal([{ digest: demo.digest }]);
      } finally {
        await supervisor.close();
      }
    },
  );

  it("prints what it read back as a table for people", () => {
    expect(agentTable(demo.agents)).to.match(/ring-1.*│.* 4 of 20 .*│/);
  });

  portalLies(() => demo);

  // A separate suite, because mocha runs a suite's own tests before the suites inside it, and the portal's suite needs
  // the node.
  describe("when it is told to end", () => {
    it("stops everything, and leaves no process and no port", async () => {
      const ports = [demo.url, demo.rpcUrl, demo.settlementUrl, demo.databaseUrl].map((url) =>
        Number(new URL(url).port),
      );
      kept.child.kill("SIGTERM");
      expect((await kept.ended).code).to.equal(143);
      await untilGone({ pids: [demo.pid], ports, files: [path.dirname(path.dirname(demo.ledgerFile))] });
    });
  });
});

/** A demo takes most of a minute of processor time, so `npm test` plays one. CONTRIBUTING.md names this variable. */
const DEMO_TO_END = process.env.DEMO_TO_END === "1";

if (DEMO_TO_END)
  describe("two demos at the same time", function () {
    this.timeout(800_000);

    it("print their tables, end with 0, and leave nothing running", async () => {
      const runs = [runTallystick(["demo"]), runTallystick(["demo"])];
      const codes = await Promise.all(runs.map(({ ended }) => ended));
      for (const [n, { code }] of codes.entries()) {
        const [out, err] = [runs[n]?.out() ?? "", runs[n]?.err() ?? ""];
        expect(code, err.slice(-3_000)).to.equal(0);
        expect(err).to.contain("nothing left running");
        expect(out).to.match(/ring-1.*│ 4 of 20 │/);
        expect(out).to.contain("/graphql").and.contain("line 44");
        const ports = [...err.matchAll(/on port (\d+)/g)].map((match) => Number(match[1]));
        expect(ports).to.have.length(4);
        await untilGone({ pids: [], ports });
      }
    });
  });

describe("a demo that is killed by SIGKILL while it works", function () {
  this.timeout(900_000);

  it("leaves no process and no port", async () => {
    const run = runTallystick(["demo"]);
    await waitUntil(async () => run.err().includes("indexer "), { what: "the indexer", withinMs: 600_000 });
    const ports = [...run.err().matchAll(/on port (\d+)/g)].map((match) => Number(match[1]));
    expect(ports).to.have.length.at.least(3);
    run.child.kill("SIGKILL");
    await run.ended;
    await untilGone({ pids: [], ports });
  });
});
