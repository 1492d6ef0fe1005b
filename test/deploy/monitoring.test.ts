import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { Registry } from "prom-client";
import { requestHistogram } from "tallystick-runtime/http/measureRoutes";
import { parse } from "yaml";
import { registerMetrics } from "../../indexer/api/metrics.ts";
import { transferMetrics } from "../../indexer/relevant/transferMetrics.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { createMetrics as auditingMetrics } from "../../services/auditing/metrics.ts";
import { createDispatchApp } from "../../services/dispatch/http/app.ts";
import { notifierRegistry } from "../../services/notifying/metrics.ts";
import { createMetrics as proberMetrics } from "../../services/probing/metrics.ts";
import { createMetrics as settlementMetrics } from "../../services/settlement/metrics.ts";
import { mirrorRegistry } from "../../services/settlement/mirror/mirrorMetrics.ts";
import { createWitnessApp } from "../../services/witness/app.ts";

/** The test also runs promtool. If promtool is missing, it installs Debian's `prometheus`, as root. */
const RUNS_PROMTOOL = process.env.PROMTOOL === "1";

const file = (name: string) => path.join(repositoryRoot, "deploy", name);

type Rule = {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook: string };
};
type Target = { refId: string; expr: string };
type Panel = {
  id: number;
  title: string;
  type: string;
  gridPos: Record<"x" | "y" | "w" | "h", number>;
  targets?: Target[];
};

const rules = (
  parse(readFileSync(file("alerts.yml"), "utf8")) as { groups: { name: string; rules: Rule[] }[] }
).groups;
const board = JSON.parse(readFileSync(file("grafana.json"), "utf8")) as { panels: Panel[] };
const expressions = [
  ...rules.flatMap(({ rules: all }) => all.map(({ alert, expr }) => [alert, expr] as const)),
  ...board.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** The metrics that an expression reads, with their labels. A metric is a name before `{` or `[`, or a name alone. */
function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/"[^"]*"/g, '""')
    .replace(/\{[^}]*\}/g, "{}")
    .replace(/\b(?:by|on|without|ignoring)\s*\([^)]*\)/g, "");
  return [...bare.matchAll(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/g)]
    .map(([name]) => name)
    .filter((name) => name.includes("_") || name === "up");
}

/** A state whose every figure is zero. */
const anyState = new Proxy(
  {},
  { get: (_, name) => (String(name).endsWith("Atomic") ? 0n : name === "challenged" ? [] : 0) },
);

/** Every series that the processes expose, by name, with its labels. */
async function exposed(): Promise<Map<string, string[]>> {
  const series = new Map<string, string[]>([["up", ["job", "instance"]]]);
  // Reads the series in a text of Prometheus, including buckets and sums of histograms.
  const addText = (text: string) => {
    for (const [, name = "", type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
      const names = type === "histogram" ? ["_bucket", "_count", "_sum"].map((end) => name + end) : [name];
      for (const it of names)
        series.set(it, [...(series.get(it) ?? []), ...(type === "histogram" ? ["le"] : [])]);
    }
  };
  const addRegistry = async (registry: Registry) => {
    addText(await registry.metrics());
    for (const metric of registry.getMetricsAsArray() as unknown as {
      name: string;
      labelNames: string[];
    }[]) {
      for (const end of ["", "_bucket", "_count", "_sum"]) {
        const known = series.get(metric.name + end);
        if (known !== undefined) series.set(metric.name + end, [...known, ...metric.labelNames]);
      }
    }
  };
  const witness = { name: "w", origins: ["o"], latest: () => undefined, add: () => "" };
  const witnesses = () => [{ name: "w", size: 1, failures: 0 }];
  const texts = [
    settlementMetrics({
      ledger: { size: 0 },
      held: { waiting: 0 },
      gate: {},
      verification: () => ({ unread: 0, compared: null, found: null }),
      now: () => 0,
      anchoring: () => ({ size: 0, age: 0, stale: false, failures: 0 }),
      witnesses,
    } as never),
    proberMetrics({
      ...Object.fromEntries(
        "hosts serving optedOut refusedEndpoints hostsLeftOut waitingRequests waitingReports isUplinkLost listingsRead observationBytes"
          .split(" ")
          .map((name) => [name, () => 0]),
      ),
    } as never),
    auditingMetrics(() => anyState as never),
  ];
  for (const { text } of texts) addText(await text());
  const dispatcher = {
    load: () => ({ running: 0, waiting: 0 }),
    isKeyRefused: () => false,
    budget: { today: async () => ({ spent: 0n, reserved: 0n }) },
    onEnd: () => {},
  };
  const dispatch = createDispatchApp({
    dispatcher: dispatcher as never,
    callers: new Map(),
    onFault: () => {},
  });
  const told = await dispatch.request("/metrics");
  expect(told.status).to.equal(200);
  addText(await told.text());
  addText(await (await createWitnessApp(witness as never, () => {}).request("/metrics")).text());
  const indexer = new Registry();
  const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
  registerMetrics(indexer, operations, async () => null);
  transferMetrics(indexer);
  requestHistogram(indexer);
  await addRegistry(indexer);
  await addRegistry(mirrorRegistry({ state: { size: 0 } as never }));
  await addRegistry(notifierRegistry(() => anyState as never));
  // Ponder does not export its own collector.
  const ponder = path.join(repositoryRoot, "node_modules/ponder/dist/esm/internal/metrics.js");
  const { MetricsService } = (await import(pathToFileURL(ponder).href)) as {
    MetricsService: new () => { registry: Registry };
  };
  await addRegistry(new MetricsService().registry);
  return series;
}

describe("alerts and the dashboard", () => {
  let series: Map<string, string[]>;
  before(async () => {
    series = await exposed();
  });

  it("read only metrics that the processes expose", () => {
    const read = new Set<string>();
    for (const [where, expr] of expressions) {
      const names = metricsIn(expr).filter((name) => !LABELS.has(name));
      expect(names, `${where}: ${expr}`).to.have.length.above(0);
      for (const name of names) {
        expect(series.has(name), `${where} reads ${name}`).to.equal(true);
        read.add(name);
      }
    }
    // Alerts or panels read at least one metric of each process.
    for (const prefix of [
      "tallystick_ledger",
      "tallystick_prober",
      "tallystick_audit",
      "tallystick_notices",
      "tallystick_witness",
      "tallystick_blocked",
      "tallystick_sla",
      "ponder_",
    ])
      expect(
        [...read].some((name) => name.startsWith(prefix)),
        prefix,
      ).to.equal(true);
  });

  it("read every metric of our own, so we collect no metric that nobody reads", () => {
    const bare = (name: string) => name.replace(/_(?:bucket|count|sum)$/, "");
    const read = new Set(expressions.flatMap(([, expr]) => metricsIn(expr).map(bare)));
    const ours = new Set([...series.keys()].filter((name) => name.startsWith("tallystick_")).map(bare));
    expect(ours.size).to.be.above(50);
    expect([...ours].filter((name) => !read.has(name))).to.deep.equal([]);
  });

  it("notice if a process of any scraped job does not answer", () => {
    const { scrape_configs } = parse(readFileSync(file("prometheus.yml"), "utf8")) as {
      scrape_configs: { job_name: string }[];
    };
    const down =
      rules.flatMap((group) => group.rules).find(({ alert }) => alert === "ProcessDown")?.expr ?? "";
    const [, jobs = ""] = /job=~"([^"]+)"/.exec(down) ?? [];
    expect(jobs.split("|")).to.have.members(scrape_configs.map(({ job_name }) => job_name));
  });

  it("are compared with exact names: an unknown metric, or a histogram without its ending, does not count as exposed", () => {
    expect(series.has("tallystick_http_request_seconds")).to.equal(false);
    expect(series.has("tallystick_no_such")).to.equal(false);
    expect(metricsIn('sum by (job) (rate(tallystick_a_total{status="5xx"}[5m])) > 0')).to.deep.equal([
      "tallystick_a_total",
    ]);
  });

  it("have a severity, an instruction and a unique name for each alert", () => {
    const all = rules.flatMap(({ rules: some }) => some);
    expect(new Set(all.map(({ alert }) => alert)).size)
      .to.equal(all.length)
      .and.to.be.above(20);
    for (const { alert, labels, annotations } of all) {
      expect(labels.severity, alert).to.be.oneOf(["critical", "warning", "info"]);
      expect(annotations.summary, alert).to.match(/^\S.{10,}$/);
      expect(annotations.description, alert).to.match(/\.$/);
      const [page = "", section = ""] = annotations.runbook.split("#");
      const text = readFileSync(path.join(repositoryRoot, page), "utf8");
      expect(text.toLowerCase(), alert).to.include(`## ${section.replaceAll("-", " ")}`);
    }
  });

  it("have panels that have a title, do not overlap, and query the chosen Prometheus", () => {
    const { panels } = board;
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
    for (const [n, a] of panels.entries()) {
      expect(a.title, String(a.id)).to.have.length.above(3);
      expect(a.gridPos.x + a.gridPos.w, a.title).to.be.at.most(24);
      if (a.type !== "row") expect(a.targets, a.title).to.have.length.above(0);
      for (const b of panels.slice(n + 1)) {
        const apart =
          a.gridPos.x + a.gridPos.w <= b.gridPos.x ||
          b.gridPos.x + b.gridPos.w <= a.gridPos.x ||
          a.gridPos.y + a.gridPos.h <= b.gridPos.y ||
          b.gridPos.y + b.gridPos.h <= a.gridPos.y;
        expect(apart, `${a.title} and ${b.title}`).to.equal(true);
      }
    }
    expect(JSON.stringify(board)).to.not.match(/"uid":"(?!\$\{datasource\}|tallystick")/);
  });

  if (RUNS_PROMTOOL) {
    it("are accepted by promtool: the rules, the configuration, and the expression of every panel", function () {
      this.timeout(600_000);
      const apt = (...args: string[]) => execFileSync("apt-get", ["-qq", ...args], { stdio: "ignore" });
      try {
        execFileSync("promtool", ["--version"], { stdio: "ignore" });
      } catch {
        apt("update");
        apt("install", "-y", "--no-install-recommends", "prometheus");
      }
      const promtool = (...args: string[]) =>
        execFileSync("promtool", args, { encoding: "utf8", stdio: "pipe" });
      const count = rules.reduce((sum, { rules: some }) => sum + some.length, 0);
      expect(promtool("check", "rules", file("alerts.yml"))).to.include(`${count} rules found`);
      expect(promtool("check", "config", "--syntax-only", file("prometheus.yml"))).to.include("SUCCESS");
      const asRules = {
        groups: [
          {
            name: "panels",
            rules: expressions.map(([, expr], n) => ({ record: `panel:${n}`, expr })),
          },
        ],
      };
      const folder = mkdtempSync(path.join(tmpdir(), "tallystick-promtool-"));
      try {
        writeFileSync(path.join(folder, "panels.yml"), JSON.stringify(asRules));
        expect(promtool("check", "rules", path.join(folder, "panels.yml"))).to.include("SUCCESS");
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
});

/** Keywords of joins. They look like metrics in an expression, but are none. */
const LABELS = new Set(["group_left", "group_right"]);
