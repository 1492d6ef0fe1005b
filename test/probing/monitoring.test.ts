import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseMonitoring } from "tallystick-protocol/records/monitoring";
import { ServiceError } from "tallystick-sdk/requestService";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { createAgentDraw } from "../../services/probing/monitoring/agentDraw.ts";
import { compareMonitoring } from "../../services/probing/monitoring/compareMonitoring.ts";
import { differencesToTell } from "../../services/probing/monitoring/differencesToTell.ts";
import { openMonitoringDesk } from "../../services/probing/monitoring/monitoringDesk.ts";
import {
  type MonitoringParameters,
  type MonitoringReport,
  monitoringRound,
} from "../../services/probing/monitoring/monitoringRound.ts";
import { readMonitored } from "../../services/probing/monitoring/readMonitored.ts";
import { ask } from "../../services/probing/net/ask.ts";
import { openPolicy, publicPolicy } from "../../services/probing/net/policy.ts";
import { Pacer } from "../../services/probing/schedule/pacer.ts";

const agents = [`0x${"a1".repeat(20)}`, `0x${"b2".repeat(20)}`] as const;
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
const pacer = new Pacer({ perSecond: 1_000_000 });
const differs = (text: string) => compareMonitoring(text, measured)?.map((it) => it.differs);

describe("an agent's own monitoring", () => {
  it("differs if a figure is missing, or is wrong by more than a hundredth (for latencies, a tenth)", () => {
    expect(differs(said(0.96, 1_100))).to.deep.equal([false, false]);
    expect(differs(said(0.961, 1_101))).to.deep.equal([true, true]);
    expect(differs(said(null, "1000"))).to.deep.equal([true, true]);
    expect(differs(JSON.stringify({ sla_status: { guarantees: [] } }))).to.deep.equal([true, true]);
    for (const other of ["", "[]", "null", "{", '{"sla_status":{"guarantees":{}}}', "[".repeat(100_000)])
      expect(differs(other), other.slice(0, 20)).to.equal(undefined);
    const many = { sla_status: { guarantees: Array.from({ length: 65 }, () => ({})) } };
    expect(differs(JSON.stringify(many))).to.equal(undefined);
  });

  it("is read once a day, also after a restart, and differences are reported once", async () => {
    const store = memoryStore();
    const clock = { now: 100_000 };
    let rounds = 0;
    const sent: RecordBody[] = [];
    let refusal: Error | undefined = new ServiceError({ code: "x", message: "away", status: 503 });
    const endpoints = ["liar", "honest"];
    const open = () =>
      openMonitoringDesk(store, {
        send: async (body) => {
          if (refusal !== undefined) throw refusal;
          sent.push(body);
        },
        ...{ policy: openPolicy, leaveOut: [], userAgent: "test", resolve: async () => ["127.0.0.1"] },
        pacer,
        ...{ now: () => clock.now, pause: async () => {}, log: () => {} },
        signal: new AbortController().signal,
        ask: async ({ url }) => ({
          ...{ status: 200, headers: new Headers(), isCut: false },
          text: url.endsWith("liar") ? said(1, 1) : said(0.95, 1_000),
        }),
        monitored: async function* () {
          rounds++;
          for (const [n, endpoint] of endpoints.entries())
            yield { agent: agents[n] ?? "", endpoint: `http://x.example/${endpoint}`, measured };
        },
      });
    await (await open()).round();
    const again = await open();
    await again.round();
    expect([rounds, again.reports().map(({ agent }) => agent)]).to.deep.equal([1, agents]);
    expect(sent).to.deep.equal([]);

    // Settlement does not know the prober's key yet. The record is still sent later.
    refusal = new ServiceError({ code: "unauthorized", message: "no", status: 401 });
    await again.round();

    // Settlement answers again. The difference is reported once, by any process, until it changes.
    refusal = undefined;
    const third = await open();
    for (let n = 0; n < 3; n++) await third.round();
    expect([rounds, sent.length]).to.deep.equal([1, 1]);
    expect(parseMonitoring({ ...sent[0], type: "monitoring", ledger: "local" })).to.deep.equal({
      ...{ day: 1, part: 0 },
      agents: {
        [agents[0]]: {
          ...{ endpoint: "http://x.example/liar", asked_at: 100_000 },
          differences: [
            { metric: "uptime", measurement_window: "30 days", measured: "0.95", claimed: "1" },
            { metric: "latency_p99", measurement_window: "7 days", measured: "1000", claimed: "1" },
          ],
        },
      },
    });
    clock.now += 86_400;
    await third.round();
    expect([rounds, sent.length]).to.deep.equal([2, 1]);
    // A clock that was years ahead does not stop later rounds.
    clock.now += 1e9;
    await third.round();
    clock.now -= 1e9;
    await (await open()).round();
    expect(rounds).to.equal(4);

    // The endpoint is honest now, and this is reported once. If settlement refuses a record because of its content, the
    // record is dropped.
    endpoints[0] = "honest";
    clock.now += 86_400;
    await third.round();
    expect(sent.at(-1)?.agents).to.deep.equal({
      [agents[0]]: {
        ...{ endpoint: "http://x.example/honest", asked_at: clock.now, differences: [] },
      },
    });
    endpoints[1] = "liar";
    clock.now += 86_400;
    refusal = new ServiceError({ code: "invalid_input", message: "no", status: 400 });
    await third.round();
    refusal = undefined;
    await third.round();
    expect(sent).to.have.length(2);
  });

  it("is reported with valid figures for any answer of the endpoint", () => {
    const claims = [1e300, -1, 1e12, 0.1 + 0.2, 5e-10, 7];
    const guarantees = claims.map((current, n) => ({
      ...{ metric: "latency_p99", window: "7 days", measured: { current: n, status: "" }, differs: true },
      claimed: { current, status: "" },
    }));
    const told = guarantees.map((it) => {
      const report = {
        agent: agents[0],
        endpoint: "http://x.example",
        askedAt: 5,
        problem: null,
        guarantees: [it],
      };
      const { bodies } = differencesToTell([report], {}, 1);
      const { agents: read } = parseMonitoring({ ...bodies[0], type: "monitoring", ledger: "local" });
      return read[agents[0]]?.differences[0]?.claimed;
    });
    expect(told).to.deep.equal([null, null, null, "0.3", "0.000000001", "7"]);
    const many = Array.from({ length: 250 }, (_, n) => ({
      ...{
        agent: `0x${String(n).padStart(40, "0")}`,
        endpoint: "http://x.example",
        askedAt: 5,
        problem: null,
      },
      guarantees: guarantees.slice(0, 1),
    }));
    expect(
      differencesToTell(many, {}, 1).bodies.map(({ part, agents: all }) => [
        part,
        Object.keys(all as object).length,
      ]),
    ).to.deep.equal([
      [0, 100],
      [1, 100],
      [2, 50],
    ]);
  });

  it("is read only from public addresses, without redirects, and up to a limit", async () => {
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
          ...{ monitored: monitored(), ask, pacer, policy, leaveOut, userAgent: "test", now: () => 5 },
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

  it("is read for at most a hundred agents of one host in a round, which are drawn, and for all agents of others", async () => {
    const asked = new Set<string>();
    const all = Array.from({ length: 300 }, (_, n) => ({
      agent: `${n}`,
      endpoint: `https://a.example/${n}`,
    }));
    all.push({ agent: "other", endpoint: "https://b.example/" });
    let drawn = 300;
    const round = async (before: readonly MonitoringReport[]) => {
      const reports: MonitoringReport[] = [];
      asked.clear();
      await monitoringRound(
        {
          monitored: (async function* () {
            for (const it of all) yield { ...it, measured };
          })(),
          pacer,
          ask: async ({ url }) => {
            if (!url.endsWith("/robots.txt")) asked.add(url);
            return { ...{ status: 200, headers: new Headers(), isCut: false }, text: said(0.95, 1_000) };
          },
          ...{ before, policy: openPolicy, leaveOut: [], userAgent: "test", now: () => 5 },
          // The later an agent comes, the smaller is its number.
          random: () => (--drawn + 0.5) / 300,
          ...{ resolve: async () => ["10.0.0.1"], pause: async () => {}, log: () => {} },
          signal: new AbortController().signal,
        },
        (report) => reports.push(report),
      );
      return reports;
    };
    const urls = (from: number, to: number) => all.slice(from, to).map(({ endpoint }) => endpoint);
    const first = await round([]);
    expect([...asked]).to.deep.equal([...urls(0, 100), "https://b.example/"]);
    expect(first.filter(({ problem }) => problem === "not_drawn")).to.have.length(200);
    drawn = 300;
    expect(await round(first)).to.have.length(301);
    expect([...asked]).to.deep.equal([...urls(200, 300), "https://b.example/"]);
  });

  /** A round over these endpoints. `asked` gets the URL of every request. */
  const roundAt = async (
    endpoints: readonly string[],
    asked: string[],
    {
      robots = { status: 404, text: "" },
      ...changes
    }: Partial<MonitoringParameters> & { robots?: { status: number; text: string } } = {},
  ) => {
    const reports: MonitoringReport[] = [];
    await monitoringRound(
      {
        monitored: (async function* () {
          for (const [n, endpoint] of endpoints.entries()) yield { agent: `${n}`, endpoint, measured };
        })(),
        ask: async ({ url }) => {
          asked.push(url);
          const answer = { status: 200, headers: new Headers(), isCut: false, text: said(0.95, 1_000) };
          return url === "https://a.example/robots.txt" ? { ...answer, ...robots } : answer;
        },
        ...{ pacer, policy: openPolicy, leaveOut: [], userAgent: "test", now: () => 5 },
        ...{ resolve: async () => ["10.0.0.1"], pause: async () => {}, log: () => {} },
        signal: new AbortController().signal,
        ...changes,
      },
      (report) => reports.push(report),
    );
    return reports;
  };

  it("is not read where a robots.txt asks probers to stay away; the file is read once in a round", async () => {
    const endpoints = ["https://a.example/1", "https://b.example/", "https://a.example/2"];
    const others = ["https://b.example/robots.txt", "https://b.example/"];
    const robots = { status: 200, text: "User-agent: tallystick-prober\nDisallow: /" };
    const problems = (reports: MonitoringReport[]) => reports.map(({ problem }) => problem);
    const asked: string[] = [];
    const first = await roundAt(endpoints, asked, { robots });
    expect(problems(first)).to.deep.equal(["opted_out", null, "opted_out"]);
    expect(asked.splice(0)).to.deep.equal(["https://a.example/robots.txt", ...others]);
    // A file that cannot be read changes nothing.
    const unread = { status: 503, text: "" };
    const second = await roundAt(endpoints, asked, { robots: unread, before: first });
    expect(problems(second)).to.deep.equal(["opted_out", null, "opted_out"]);
    expect(asked.splice(0)).to.deep.equal(["https://a.example/robots.txt", ...others]);
    expect(problems(await roundAt(endpoints, asked, { robots: unread }))).to.deep.equal([null, null, null]);
    // Also a host without an answer, or without an address, has not changed its mind.
    const silent = { ask: () => Promise.reject(new Error("no answer")) };
    const third = await roundAt(endpoints, [], { ...silent, before: second });
    expect(problems(third)).to.deep.equal(["opted_out", "unreachable", "opted_out"]);
    const fourth = await roundAt(endpoints, [], { resolve: async () => [], before: third });
    expect(problems(fourth)).to.deep.equal(["opted_out", "no_address", "opted_out"]);
    expect(problems(await roundAt(endpoints, asked, { before: fourth }))).to.deep.equal([null, null, null]);
  });

  it("is not read at a host that opted out, also if its agent was away for a day and the prober was restarted", async () => {
    const store = memoryStore();
    const clock = { now: 100_000 };
    const host = { isListed: true, status: 200 };
    const report = async () => {
      const desk = await openMonitoringDesk(store, {
        ...{ policy: openPolicy, leaveOut: [], userAgent: "test", resolve: async () => ["10.0.0.1"] },
        ...{ pacer, now: () => clock.now, pause: async () => {}, log: () => {}, send: async () => {} },
        signal: new AbortController().signal,
        ask: async ({ url }) => ({
          ...{
            status: url.endsWith("/robots.txt") ? host.status : 200,
            headers: new Headers(),
            isCut: false,
          },
          text: url.endsWith("/robots.txt")
            ? "User-agent: tallystick-prober\nDisallow: /"
            : said(0.95, 1_000),
        }),
        monitored: async function* () {
          if (host.isListed) yield { agent: "0xa", endpoint: "https://a.example/sla", measured };
        },
      });
      await desk.round();
      clock.now += 86_400;
      return desk.reports()[0]?.problem;
    };
    expect(await report()).to.equal("opted_out");
    host.isListed = false;
    expect(await report()).to.equal(undefined);
    // The file cannot be read on this day. The last known state stays.
    Object.assign(host, { isListed: true, status: 503 });
    expect(await report()).to.equal("opted_out");
    host.status = 404;
    expect(await report()).to.equal(null);
    host.status = 503;
    expect(await report()).to.equal(null);
  });

  for (const end of ["the prober is stopped", "the node fails"])
    it(`is not read at a host that opted out in a round in which ${end}`, async () => {
      const store = memoryStore();
      const clock = { now: 100_000 };
      const host = { status: 200 };
      const round = async (work: (stop: AbortController) => void) => {
        const stop = new AbortController();
        const desk = await openMonitoringDesk(store, {
          ...{ policy: openPolicy, leaveOut: [], userAgent: "test", resolve: async () => ["10.0.0.1"] },
          ...{ pacer, now: () => clock.now, pause: async () => {}, log: () => {}, send: async () => {} },
          signal: stop.signal,
          ask: async ({ url }) => {
            const isRobots = url.endsWith("/robots.txt");
            const text = isRobots ? "User-agent: tallystick-prober\nDisallow: /" : said(0.95, 1_000);
            return { status: isRobots ? host.status : 200, headers: new Headers(), isCut: false, text };
          },
          monitored: async function* () {
            yield { agent: "0xa", endpoint: "https://a.example/sla", measured };
            work(stop);
            yield { agent: "0xb", endpoint: "https://b.example/sla", measured };
          },
        });
        await desk.round().catch(() => {});
        return desk.reports().map(({ problem }) => problem);
      };
      const first = await round((stop) => {
        if (end === "the node fails") throw new Error(end);
        stop.abort();
      });
      expect(first).to.deep.equal(["opted_out"]);
      clock.now += 86_400;
      // The file cannot be read on the next day.
      host.status = 503;
      expect(await round(() => {})).to.deep.equal(["opted_out", null]);
    });

  it("is asked once a day, also if the node fails in the round, and what was read until then counts", async () => {
    const store = memoryStore();
    const clock = { now: 100_000 };
    const node = { failsAt: 0 };
    const [asked, sent]: [string[], RecordBody[]] = [[], []];
    const open = () =>
      openMonitoringDesk(store, {
        ...{ policy: openPolicy, leaveOut: [], userAgent: "test", resolve: async () => ["10.0.0.1"] },
        ...{ pacer, now: () => clock.now, pause: async () => {}, log: () => {} },
        send: async (body) => void sent.push(body),
        signal: new AbortController().signal,
        ask: async ({ url }) => {
          const isRobots = url.endsWith("/robots.txt");
          if (!isRobots) asked.push(new URL(url).host);
          return { status: isRobots ? 404 : 200, headers: new Headers(), isCut: false, text: said(1, 1_000) };
        },
        monitored: async function* () {
          for (const n of [0, 1]) {
            if (n === node.failsAt) throw new Error("the node fails");
            yield { agent: agents[n] as string, endpoint: `https://h${n}.example/sla`, measured };
          }
        },
      });
    const desk = await open();
    const fails = async (of: typeof desk) => await of.round().then(String, String);
    // The node fails before anybody was asked, so the next call asks.
    expect(await fails(desk)).to.contain("the node fails");
    expect(await fails(await open())).to.contain("the node fails");
    node.failsAt = 1;
    expect(await fails(desk)).to.contain("the node fails");
    node.failsAt = 2;
    for (let n = 0; n < 2; n++) await desk.round();
    await (await open()).round();
    expect(asked).to.deep.equal(["h0.example"]);
    expect(desk.reports().map(({ agent }) => agent)).to.deep.equal([agents[0]]);
    expect(sent.map(({ agents: of }) => Object.keys(of as object))).to.deep.equal([[agents[0]]]);
    // On the next day both are asked. On the day after it the node fails, and the second keeps its report.
    for (const failsAt of [2, 1]) {
      clock.now += 86_400;
      node.failsAt = failsAt;
      await fails(desk);
    }
    expect(asked).to.deep.equal(["h0.example", "h0.example", "h1.example", "h0.example"]);
    const times = desk.reports().map(({ agent, askedAt }) => [agent, askedAt]);
    expect(times).to.deep.equal([
      [agents[0], 272_800],
      [agents[1], 186_400],
    ]);
    expect(sent).to.have.length(2);
    // The node fails on every day. The second agent's report goes after a week.
    for (let day = 0; day < 7; day++) {
      expect(desk.reports().map(({ agent }) => agent)).to.deep.equal(agents);
      clock.now += 86_400;
      await fails(desk);
    }
    expect(desk.reports().map(({ agent }) => agent)).to.deep.equal([agents[0]]);
  });

  it("is read until the round must end; the next round draws as many as there was time for", async () => {
    const endpoints = [1, 2, 3].map((n) => `https://h${n}.example/`);
    let time = 0;
    const slow = {
      now: () => time,
      until: 10,
      ask: async () => {
        time += 5;
        return { status: 200, headers: new Headers(), isCut: false, text: said(0.95, 1_000) };
      },
    };
    const first = await roundAt(endpoints, [], slow);
    expect(first.map(({ problem }) => problem)).to.deep.equal([null, "no_time", "no_time"]);
    expect(first[1]?.endpoint).to.equal("https://h2.example");
    time = 0;
    const draws = [0.9, 0.9, 0.1];
    const second = await roundAt(endpoints, [], { ...slow, before: first, random: () => draws.shift() ?? 1 });
    expect(second.map(({ problem }) => problem)).to.deep.equal(["not_drawn", "not_drawn", null]);
    // The last round had time for all that it came to, so a report of an earlier round without time changes nothing.
    const reports = endpoints.map((endpoint, n) => ({
      ...{ agent: `${n}`, endpoint, guarantees: [] },
      ...(n === 0 ? { askedAt: 4, problem: "no_time" } : { askedAt: 5, problem: null }),
    }));
    time = 6;
    const last = { before: reports, lastBegan: 5, random: () => 0.9 };
    const third = await roundAt(endpoints, [], { ...slow, until: 100, ...last });
    expect(third.map(({ problem }) => problem)).to.deep.equal([null, null, null]);
  });

  it("is asked of as many as there was time for, although a process ended in the middle of a round since", async () => {
    const store = memoryStore();
    const clock = { now: 100_000 };
    const node = { isStuck: false };
    const asked: string[] = [];
    const draws: number[] = [];
    const isStuck = Promise.withResolvers<void>();
    const open = () =>
      openMonitoringDesk(store, {
        ...{ policy: openPolicy, leaveOut: [], userAgent: "test", resolve: async () => ["10.0.0.1"] },
        ...{
          pacer,
          now: () => clock.now,
          pause: async () => {},
          log: () => {},
          random: () => draws.shift() ?? 0,
        },
        send: async () => {},
        signal: new AbortController().signal,
        ask: async ({ url }) => {
          const isRobots = url.endsWith("/robots.txt");
          // Each answer takes longer than a round may.
          if (!isRobots) clock.now += 21 * 3_600;
          if (!isRobots) asked.push(url);
          return {
            status: isRobots ? 404 : 200,
            headers: new Headers(),
            isCut: false,
            text: said(0.95, 1_000),
          };
        },
        monitored: async function* () {
          if (node.isStuck) {
            isStuck.resolve();
            await new Promise(() => {});
          }
          for (const n of [1, 2, 3]) yield { agent: `0x${n}`, endpoint: `https://h.example/${n}`, measured };
        },
      });
    const problems = async () => (await open()).reports().map(({ problem }) => problem);
    await (await open()).round();
    expect(await problems()).to.deep.equal([null, "no_time", "no_time"]);
    clock.now += 86_400;
    node.isStuck = true;
    void (await open()).round();
    await isStuck.promise;
    clock.now += 86_400;
    node.isStuck = false;
    // Each agent has a third of a chance. The round would have a place for all of them.
    draws.push(0.9, 0.1, 0.1);
    await (await open()).round();
    expect(await problems()).to.deep.equal(["not_drawn", null, "not_drawn"]);
    expect(asked).to.have.length(2);
  });

  it("waits for its turn while a look at the same address is under way", async () => {
    const look = Promise.withResolvers<void>();
    const own = new Pacer({ perSecond: 100 });
    const looking = own.run({ key: "10.0.0.1", isUrgent: true, isWanted: () => true }, () => look.promise);
    const asked: string[] = [];
    const round = roundAt(["https://a.example/1"], asked, { pacer: own });
    while (own.waiting === 0 && asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(asked).to.deep.equal([]);
    look.resolve();
    await Promise.all([looking, round]);
    expect(asked).to.deep.equal(["https://a.example/robots.txt", "https://a.example/1"]);
  });

  it("is not read at an address where its turn does not come, and is read at other addresses", async () => {
    const look = Promise.withResolvers<void>();
    const own = new Pacer({ perSecond: 100 });
    const looking = own.run({ key: "10.0.0.1", isUrgent: true, isWanted: () => true }, () => look.promise);
    const asked: string[] = [];
    const reports = await roundAt(
      ["https://a.example/", "https://same.example/", "https://b.example/"],
      asked,
      {
        ...{ pacer: own, turnMs: 1 },
        resolve: async (host) => [host === "b.example" ? "10.0.0.2" : "10.0.0.1"],
      },
    );
    expect(reports.map(({ problem }) => problem)).to.deep.equal(["dropped", "dropped", null]);
    // Only the first request waited. It is not sent when its turn comes after all.
    expect(own.waiting).to.equal(1);
    look.resolve();
    await looking;
    expect(own.waiting).to.equal(0);
    expect(asked).to.deep.equal(["https://b.example/robots.txt", "https://b.example/"]);
  });

  it("is read for agents that come after ten thousand others", async () => {
    const others = Array.from({ length: 10_000 }, (_, n) => `https://a.example/${n}`);
    const asked: string[] = [];
    const first = await roundAt([...others, "https://b.example/"], asked);
    expect(first.at(-1)?.problem).to.equal(null);
    expect(asked).to.have.length(103);
    // Agents that may not be asked take no places.
    const leaveOut = ["a.example:443"];
    expect((await roundAt([...others, "https://b.example/"], [], { leaveOut })).at(-1)?.problem).to.equal(
      null,
    );
    // Each agent has a host of its own. The last round named them all, so some of all are drawn.
    const many = Array.from({ length: 20_000 }, (_, n) => `https://${n}.example/`);
    const before = many.map((endpoint, n) => ({
      ...{ agent: `${n}`, endpoint, askedAt: 5, problem: "not_drawn", guarantees: [] },
    }));
    let drawn = 20_000;
    const reports = await roundAt(many, [], { before, random: () => (--drawn + 0.5) / 20_000 });
    expect(reports.findIndex(({ problem }) => problem === null)).to.equal(10_000);
    expect(reports.at(-1)?.problem).to.equal(null);
  });

  it("is read for agents that come after ten thousand others, of whom each has a host below one name", () => {
    const endpoints = Array.from({ length: 10_000 }, (_, n) => `https://h${n}.flood.example/`);
    endpoints.push("https://b.example/");
    const first = endpoints.map(createAgentDraw([], { random: () => 0.5 }));
    expect(first.filter((isDrawn) => isDrawn)).to.have.length(1_001);
    expect(first.at(-1)).to.equal(true);
    // In the next round each of them has the same chance, and none has the place of others.
    let drawn = endpoints.length;
    const random = () => --drawn / endpoints.length;
    const second = endpoints.map(createAgentDraw(endpoints, { random }));
    expect(second.indexOf(true)).to.equal(9_000);
    expect(second.at(-1)).to.equal(true);
  });

  it("is read for agents at names that answered, however many names somebody invents", async () => {
    const invented = Array.from({ length: 40_000 }, (_, n) => `https://invented${n}.example/`);
    const honest = Array.from({ length: 8_000 }, (_, n) => `https://honest${n}.example/`);
    const all = [...invented, ...honest];
    const answered = new Set(honest.slice(1).map((endpoint) => new URL(endpoint).hostname));
    let at = 0;
    // The numbers are spread evenly, so that the shares are exact.
    const random = () => (at++ % 997) / 997;
    const drawn = all.filter(createAgentDraw(all, { random, answered }));
    expect(drawn.filter((it) => answered.has(new URL(it).hostname))).to.have.length(7_999);
    // The rest of the places is for the others.
    expect(drawn.length - 7_999).to.be.within(1_900, 2_001);
    // When the names that answered need all places, a tenth is still for the others.
    const crowd = Array.from({ length: 20_000 }, (_, n) => `https://crowd${n}.example/`);
    const known = new Set(crowd.map((endpoint) => new URL(endpoint).hostname));
    const both = [...invented, ...crowd];
    const some = both.filter(createAgentDraw(both, { random, answered: known }));
    expect(some.filter((it) => known.has(new URL(it).hostname)).length).to.be.within(8_900, 9_000);
    expect(some.filter((it) => !known.has(new URL(it).hostname)).length).to.be.within(950, 1_000);
  });

  it("remembers the registered names that gave figures, and no stranger's site that somebody names", async () => {
    const answered = new Set(["old.example"]);
    const problems = {
      "gone.example": "unreachable",
      "absent.example": "http_404",
      "forbidden.example": "http_403",
      "large.example": "too_large",
      "out.example": "opted_out",
      "page.example": "other_form",
    };
    const named = ["a.here.example", ...Object.keys(problems), "b.here.example"];
    const endpoints = named.map((host) => `https://${host}/`);
    const reports = await roundAt(endpoints, [], {
      answered,
      ask: async ({ url }) => {
        const { hostname, pathname } = new URL(url);
        const answer = { status: 200, headers: new Headers(), isCut: false, text: said(0.95, 1_000) };
        if (hostname === "gone.example") throw new Error("ECONNREFUSED");
        if (pathname === "/robots.txt") {
          const text = "User-agent: tallystick-prober\nDisallow: /";
          return hostname === "out.example" ? { ...answer, text } : { ...answer, status: 404 };
        }
        if (hostname === "absent.example") return { ...answer, status: 404 };
        if (hostname === "forbidden.example") return { ...answer, status: 403 };
        if (hostname === "large.example") return { ...answer, isCut: true };
        return hostname === "page.example" ? { ...answer, text: "<html>" } : answer;
      },
    });
    expect(reports.map(({ problem }) => problem)).to.deep.equal([null, ...Object.values(problems), null]);
    expect([...answered]).to.deep.equal(["old.example", "here.example"]);
  });

  it("remembers the names whose figures an earlier version stored without them", async () => {
    const store = memoryStore();
    const reports = [
      ["https://a.honest.example/sla", null],
      ["https://stranger.example/", "http_404"],
      ["https://page.example/", "other_form"],
    ].map(([endpoint, problem], n) => ({
      ...{ agent: `${n}`, endpoint, problem },
      askedAt: 5,
      guarantees: [],
    }));
    await store.put("monitoring/reports", { startedAt: 5, reports, told: {}, waiting: [] });
    const desk = await openMonitoringDesk(store, {
      ...{ policy: openPolicy, leaveOut: [], userAgent: "test", resolve: async () => ["10.0.0.1"] },
      ...{ pacer, now: () => 100_000, pause: async () => {}, log: () => {}, send: async () => {} },
      signal: new AbortController().signal,
      ask: async () => ({ ...{ status: 404, headers: new Headers(), isCut: false }, text: "" }),
      monitored: async function* () {
        yield { agent: "9", endpoint: "https://another.example/", measured };
      },
    });
    await desk.round();
    expect(await store.get("monitoring/reports")).to.deep.include({ answered: ["honest.example"] });
  });

  it("is not read from a node whose answer has another form, and nothing of that answer goes into a record", async () => {
    const guarantee = { metric: "uptime", measurementWindow: "30 days", current: 0.9, status: "at_risk" };
    const answerWith = (changes: object, sla: unknown = {}) => ({
      page: {
        nodes: [
          {
            address: agents[0],
            sla: sla && {
              body: { monitoring_endpoint: "https://a.example" },
              guarantees: [{ ...guarantee, ...changes }],
              ...(sla as object),
            },
          },
        ],
        pageInfo: { hasNextPage: false, endCursor: null },
      },
    });
    let data: unknown;
    const server = createServer((_, response) => response.end(JSON.stringify({ data })));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const read = async () => {
      const found = [];
      for await (const it of readMonitored(url, new AbortController().signal)) found.push(it);
      return found;
    };
    try {
      data = answerWith({});
      expect(await read()).to.deep.equal([
        {
          ...{ agent: agents[0], endpoint: "https://a.example" },
          measured: [{ metric: "uptime", window: "30 days", current: 0.9, status: "at_risk" }],
        },
      ]);
      data = answerWith({}, null);
      expect(await read()).to.deep.equal([]);
      for (const other of [
        { page: null },
        { page: { nodes: [null], pageInfo: { hasNextPage: false, endCursor: null } } },
        answerWith({ current: "0.9" }),
        answerWith({ metric: 7 }),
        answerWith({}, { guarantees: null }),
        answerWith({}, { body: null }),
      ]) {
        data = other;
        const failure = await read().catch((error: unknown) => error);
        expect(failure).to.be.instanceOf(ServiceError).with.property("code", "unreadable_answer");
      }
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
