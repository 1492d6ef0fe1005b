import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { compareMonitoring } from "../../services/probing/monitoring/compareMonitoring.ts";
import { openMonitoringDesk } from "../../services/probing/monitoring/monitoringDesk.ts";
import { type MonitoringReport, monitoringRound } from "../../services/probing/monitoring/monitoringRound.ts";
import { ask } from "../../services/probing/net/ask.ts";
import { openPolicy, publicPolicy } from "../../services/probing/net/policy.ts";

const measured = [
  { metric: "uptime", window: "30 days", current: 0.95, status: "at_risk" },
  { metric: "latency_p99", window: "7 days", current: 1_000, status: "compliant" },
];
const said = (uptime: unknown, p99: unknown) =>
  JSON.stringify({
    sla_status: {
      guarantees: [
        { metric: "uptime", measurement_window: "30 days", current: uptime, status: "compliant" },
        { metric: "latency_p99", measurement_window: "7 days", current: p99, status: "compliant" },
      ],
    },
  });
const differs = (text: string) => compareMonitoring(text, measured)?.map((it) => it.differs);

describe("an agent's own monitoring", () => {
  it("differs when it is off by more than a hundredth, a latency by more than a tenth, or says nothing", () => {
    expect(differs(said(0.96, 1_100))).to.deep.equal([false, false]);
    expect(differs(said(0.961, 1_101))).to.deep.equal([true, true]);
    expect(differs(said(null, "1000"))).to.deep.equal([true, true]);
    expect(differs(JSON.stringify({ sla_status: { guarantees: [] } }))).to.deep.equal([true, true]);
    for (const other of ["", "[]", "null", "{", '{"sla_status":{"guarantees":{}}}', "[".repeat(100_000)])
      expect(differs(other), other.slice(0, 20)).to.equal(undefined);
    const many = { sla_status: { guarantees: Array.from({ length: 65 }, () => ({})) } };
    expect(differs(JSON.stringify(many))).to.equal(undefined);
  });

  it("is looked at once a day, also by a process that starts again, and who says otherwise stands first", async () => {
    const store = memoryStore();
    const clock = { now: 100_000 };
    let rounds = 0;
    const open = () =>
      openMonitoringDesk(store, {
        ...{ policy: openPolicy, leaveOut: [], userAgent: "test", resolve: async () => ["127.0.0.1"] },
        ...{ now: () => clock.now, pause: async () => {}, log: () => {} },
        signal: new AbortController().signal,
        ask: async ({ url }) => ({
          ...{ status: 200, headers: new Headers(), isCut: false },
          text: url.endsWith("liar") ? said(1, 1) : said(0.95, 1_000),
        }),
        monitored: async function* () {
          rounds++;
          for (const agent of ["honest", "liar"])
            yield { agent, endpoint: `http://x.example/${agent}`, measured };
        },
      });
    await (await open()).round();
    const again = await open();
    await again.round();
    expect([rounds, again.reports().map(({ agent }) => agent)]).to.deep.equal([1, ["liar", "honest"]]);
    clock.now += 86_400;
    await again.round();
    expect(rounds).to.equal(2);
  });

  it("is asked of public addresses alone, without following anybody, and cut where it does not end", async () => {
    let inside = 0;
    const server = createServer(({ url }, response) => {
      if (url === "/good") response.end(said(0.99, 1_000));
      else if (url === "/away") response.writeHead(302, { location: "/inside" }).end();
      else if (url === "/inside") response.end(String(inside++));
      else {
        const more = setInterval(() => response.write("x".repeat(65_536)), 1);
        response.on("close", () => clearInterval(more));
      }
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const round = async (endpoints: string[], policy = openPolicy, leaveOut: string[] = []) => {
      const reports: MonitoringReport[] = [];
      async function* monitored() {
        for (const endpoint of endpoints) yield { agent: "0xa", endpoint, measured };
      }
      await monitoringRound(
        {
          ...{ monitored: monitored(), ask, policy, leaveOut, userAgent: "test", now: () => 5 },
          ...{ resolve: async () => ["10.0.0.1"], pause: async () => {}, log: () => {} },
          signal: new AbortController().signal,
        },
        (report) => reports.push(report),
      );
      return reports;
    };
    try {
      const [good, away, endless] = await round([`${base}/good`, `${base}/away`, `${base}/endless`]);
      expect(good).to.deep.include({ askedAt: 5, problem: null });
      expect(good?.guarantees.map((it) => it.differs)).to.deep.equal([true, false]);
      expect([away?.problem, endless?.problem, inside]).to.deep.equal(["http_302", "too_large", 0]);
      const refused = await round([`${base}/good`, "https://agent.example/sla"], publicPolicy);
      expect(refused.map(({ problem }) => problem)).to.deep.equal(["private_address", "private_address"]);
      const { host } = new URL(base);
      expect((await round([`${base}/good`], openPolicy, [host]))[0]?.problem).to.equal("left_out");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
