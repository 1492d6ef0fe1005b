import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent } from "node:http";
import { availableParallelism, cpus, loadavg } from "node:os";
import { createInterface } from "node:readline";
import { styleText } from "node:util";
import Table from "cli-table3";
import type { Command } from "commander";
import pg from "pg";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import { startPostgres } from "../../scripts/postgres/startPostgres.ts";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { openApiDatabase } from "../bench/api/apiDatabase.ts";
import { measureCosts } from "../bench/api/costs/measureCosts.ts";
import { costLine, reportCosts } from "../bench/api/costs/reportCosts.ts";
import { ask, hammer, medianOf, offerRate } from "../bench/api/drive.ts";
import { type FloodOptions, measureFlood } from "../bench/api/flood/measureFlood.ts";
import { lineOf, reportFlood } from "../bench/api/flood/reportFlood.ts";
import { loadMarket } from "../bench/api/loadMarket.ts";
import { queriesOf } from "../bench/api/queries.ts";

type Options = FloodOptions & {
  rate: number;
  json?: boolean;
  database?: string;
  flood?: boolean;
  costs?: boolean;
};

/** An answer has to be at least this many times as fast as its computation from the hires. */
const MIN_FACTOR = 20;

/** `npm run bench:api`: the API under load over a large market, and the same answers aggregated at query time. */
export function registerBenchApi(program: Command): void {
  program
    .command("bench-api")
    .description("Measure the API on this machine, over a market that is loaded directly into Postgres.")
    .option("--agents <count>", "agents, each with a listing", wholeNumber("--agents"), 100_000)
    .option("--hires <count>", "hires in the window", wholeNumber("--hires"), 1_000_000)
    .option("--clusters <count>", "clusters", wholeNumber("--clusters"), 50_000)
    .option(
      "--largest-seller <count>",
      "hires of the largest seller",
      wholeNumber("--largest-seller"),
      100_000,
    )
    .option("--rate <count>", "requests sent in a second", wholeNumber("--rate"), 200)
    .option("--seconds <count>", "how long each measurement takes", wholeNumber("--seconds"), 8)
    .option(
      "--flood",
      "measure only what a flood by one client costs other clients, in flooded, quiet and control phases",
    )
    .option("--rounds <count>", "with --flood: phases of each kind", wholeNumber("--rounds"), 8)
    .option(
      "--costs",
      "measure only the points of each request, and its processor time in Node and in Postgres",
    )
    .option(
      "--kinds <texts...>",
      "with --flood or --costs: only the kinds or requests with one of these texts in their name",
    )
    .option("--proxied", "with --flood: clients come through a proxy")
    .option(
      "--balancer",
      "with --flood: clients come through a real nginx with deploy/nginx.conf, and floods that no proxy passes on go to it",
    )
    .option("--unlimited", "with --flood: the server has no limits")
    .option("--json", "print the figures as JSON")
    .option("--database <url>", "use this database and keep it; it is filled if it is empty")
    .action(async (options: Options) => {
      if (options.largestSeller > options.hires) {
        program.error(
          `error: --largest-seller is ${options.largestSeller}, more than the ${options.hires} of --hires`,
        );
      }
      const say = (text: string) => void process.stderr.write(`${text}\n`);
      const postgres = options.database === undefined ? await startPostgres() : undefined;
      try {
        const url = options.database ?? (await postgres?.createDatabase("bench_api")) ?? "";
        if (!(await isFilled(url))) await fill(url, options, say);
        if (options.costs) {
          const costs = await measureCosts(url, options, (of) => say(costLine(of)));
          process.stdout.write(
            options.json ? `${JSON.stringify(costs, null, 2)}\n` : reportCosts(costs, options),
          );
          return;
        }
        if (options.flood) {
          const flood = await measureFlood(url, options, (of) => say(lineOf(of)));
          process.stdout.write(
            options.json ? `${JSON.stringify(flood, null, 2)}\n` : reportFlood(flood, options),
          );
          return;
        }
        const figures = await measure(url, options, say);
        process.stdout.write(options.json ? `${JSON.stringify(figures, null, 2)}\n` : report(figures));
      } finally {
        await postgres?.stop();
      }
    });
}

async function isFilled(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query("SELECT to_regclass('_ponder_checkpoint') IS NOT NULL AS filled");
    return rows[0].filled;
  } finally {
    await client.end();
  }
}

async function fill(url: string, options: Options, say: (text: string) => void): Promise<void> {
  const database = await openApiDatabase(url);
  try {
    await loadMarket(database.pool, options, say);
    say("indexes …");
    await database.createIndexes();
    await database.pool.query("VACUUM ANALYZE");
  } finally {
    await database.close();
  }
}

type Figures = Awaited<ReturnType<typeof measure>>;

async function measure(url: string, options: Options, say: (text: string) => void) {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const server = spawn(process.execPath, nodeProgram("tools/bench/api/apiServer.ts", [url]), {
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    const { port } = JSON.parse(line) as { port: number };
    const agent = new Agent({ keepAlive: true });
    const { seconds, rate } = options;
    const rows = [];
    for (const query of queriesOf(options)) {
      say(`${query.name} …`);
      // The first requests throw if they fail, so that the cause is shown. Later failures are only counted.
      for (let n = 0; n < 50; n++) await ask(port, agent, query.next());
      const offered = await offerRate(port, query, { perSecond: rate, seconds });
      const closed = [];
      for (const connections of [1, 16, 64]) {
        closed.push({ connections, ...(await hammer(port, query, { connections, seconds: seconds / 2 })) });
      }
      let factor: { oursMs: number; aggregatedMs: number } | null = null;
      const { aggregation } = query;
      if (aggregation !== undefined) {
        factor = {
          oursMs: await medianOf(51, () => ask(port, agent, aggregation.of)),
          aggregatedMs: await medianOf(11, () => pool.query(aggregation.text, aggregation.params)),
        };
      }
      rows.push({ name: query.name, goalMs: query.goalMs, offered, closed, factor });
      const times =
        factor === null ? "" : `, ${(factor.aggregatedMs / factor.oursMs).toFixed(1)} × the aggregation`;
      say(`  p50 ${offered.p50.toFixed(1)}, p99 ${offered.p99.toFixed(1)} ms${times}`);
    }
    agent.destroy();
    const { agents, hires, clusters, largestSeller } = options;
    return {
      machine: {
        cpu: cpus()[0]?.model ?? "unknown",
        cores: availableParallelism(),
        node: process.version,
        loadAverage: loadavg(),
      },
      market: { agents, hires, clusters, largestSeller },
      rate,
      rows,
    };
  } finally {
    server.kill();
    await pool.end();
  }
}

function report({ machine, market, rate, rows }: Figures): string {
  const ms = (value: number) => value.toFixed(1);
  const mark = (met: boolean) => (met ? styleText("green", "met") : styleText("red", "missed"));
  const table = new Table({
    head: ["query", `p50 at ${rate}/s`, "p99", "goal", "", "1: p50/p99, req/s", "16", "64"],
    colAligns: ["left", "right", "right", "right", "left", "right", "right", "right"],
  });
  for (const { name, goalMs, offered, closed } of rows) {
    table.push([
      name,
      ms(offered.p50),
      ms(offered.p99),
      `≤ ${goalMs} ms`,
      mark(offered.p99 <= goalMs && offered.failures.length === 0),
      ...closed.map((it) => `${ms(it.p50)}/${ms(it.p99)}, ${it.perSecond.toFixed(0)}`),
    ]);
  }
  const factors = new Table({
    head: ["against aggregating at query time", "our answer, ms", "SQL alone, ms", "factor", "goal", ""],
    colAligns: ["left", "right", "right", "right", "right", "left"],
  });
  for (const { name, factor } of rows) {
    if (factor === null) continue;
    const times = factor.aggregatedMs / factor.oursMs;
    const met = mark(times >= MIN_FACTOR);
    factors.push([
      name,
      ms(factor.oursMs),
      ms(factor.aggregatedMs),
      times.toFixed(1),
      `≥ ${MIN_FACTOR}`,
      met,
    ]);
  }
  const failures = rows.flatMap(({ offered, closed }) => [offered, ...closed].flatMap((it) => it.failures));
  const { agents, hires, clusters, largestSeller } = market;
  const load = machine.loadAverage.map((it) => it.toFixed(1)).join(" ");
  return [
    `${machine.cores} × ${machine.cpu}, Node ${machine.node}, load average at the end ${load}`,
    `${agents} agents, ${hires} hires in the window, ${clusters} clusters, ${largestSeller} hires of one seller; server, Postgres and clients share the cores`,
    table.toString(),
    factors.toString(),
    `${failures.length} requests failed${failures
      .map((it) => `\n  ${it}`)
      .slice(0, 5)
      .join("")}`,
    "",
  ].join("\n");
}
