import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { getRequestListener } from "@hono/node-server";
import { expect } from "chai";
import type { InvalidInputError } from "tallystick-protocol/errors";
import { canonicalBody } from "tallystick-protocol/json/recordBody";
import { signRecord } from "tallystick-protocol/records/record";
import { MAX_PROBED_HOSTS } from "tallystick-protocol/records/uptime";
import { readProberConfig } from "../../services/probing/config.ts";
import { makeReports } from "../../services/probing/reports/makeReports.ts";
import { type RunningProber, runProber } from "../../services/probing/runProber.ts";
import { openTestService, type TestService } from "../settlement/support/testService.ts";
import { suiteFolder } from "../support/suiteFolder.ts";
import { behaviours, type LocalHosts, loopbackPolicy, openLocalHosts } from "./support/localHosts.ts";
import { agent, DAY } from "./support/openTestProber.ts";

const KEY = `0x${"5e".repeat(32)}` as const;

describe("the process of a prober", () => {
  const folder = suiteFolder();
  let hosts: LocalHosts;
  let settlement: TestService;
  let node: Server;
  let nodeUrl: string;
  let running: RunningProber | undefined;

  before(async () => {
    hosts = await openLocalHosts();
    settlement = await openTestService(path.join(folder.path, "ledger"));
    const forward = getRequestListener(settlement.app.fetch);
    const listing = {
      capability: "compute.statistics.mean",
      endpoint: `http://127.4.0.1:${hosts.port}`,
      paymentMode: "direct",
      maxLatencyMs: 10_000,
      payee: null,
    };
    const nodes = [{ address: agent(1), listings: { nodes: [listing], pageInfo: { hasNextPage: false } } }];
    const data = { agents: { nodes, pageInfo: { hasNextPage: false, endCursor: null } } };
    // The node has one address for its API and its settlement.
    node = createServer((request, response) => {
      if (request.url === "/graphql") {
        request.resume();
        response.setHeader("content-type", "application/json").end(JSON.stringify({ data }));
      } else if (request.url === "/ready") response.end();
      else void forward(request, response);
    });
    node.listen(0, "127.0.0.1");
    await once(node, "listening");
    nodeUrl = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  });

  after(async () => {
    await running?.close();
    node.close();
    node.closeAllConnections();
    await settlement.close();
    await hosts.close();
  });

  it("reads a node's listings, looks at the hosts, and settles its observations", async () => {
    hosts.set("127.4.0.1", behaviours.good);
    const clock = { now: DAY + 299 };
    const config = readProberConfig({
      TALLYSTICK_URL: nodeUrl,
      TALLYSTICK_LEDGER: "local",
      PROBER_PRIVATE_KEY: KEY,
      PROBER_CONTACT: "probes@example.com",
      PROBER_REGION: "eu-west",
      PROBER_DIR: path.join(folder.path, "prober"),
    });
    running = await runProber({ ...config, port: 0 }, () => {}, {
      policy: loopbackPolicy,
      now: () => clock.now,
    });
    const looks = () => hosts.hits.filter((hit) => hit.path === "/hire").length;
    await until(() => looks() === 1);
    // The next slot must not begin before the prober knows that the host serves its agent.
    await running.prober.idle();
    clock.now += 300;
    await until(() => looks() === 2);
    await running.prober.idle();
    const health = await (await fetch(`${running.url}/health`)).json();
    expect(health).to.deep.include({ status: "ok", hosts: 1, uplink: "there" });

    clock.now = DAY + 3_600 + 50;
    settlement.clock.now = clock.now;
    running.prober.tick();
    await running.prober.idle();
    await running.prober.report();
    const { text: lines } = await settlement.get("/v1/ledger/entries");
    const entry = JSON.parse(lines.trimEnd().split("\n").at(-1) ?? "");
    expect(entry.payload).to.deep.include({ type: "uptime", signer: running.address });
    expect(entry.payload.body).to.deep.include({
      hour: DAY / 3_600,
      region: "eu-west",
      part: 0,
      hosts: { [`127.4.0.1:${hosts.port}`]: [0b10, 0] },
      served: { [agent(1)]: [`127.4.0.1:${hosts.port}`] },
    });
    const text = await (await fetch(`${running.url}/metrics`)).text();
    expect(text)
      .to.match(/tallystick_prober_looks_total\{result="up"\} \d/)
      .and.match(/tallystick_prober_reports_total\{state="settled"\} 1/)
      .and.match(/tallystick_prober_hosts_serving 1/);
    await running.close();
    running = undefined;
  });

  it("asks hosts at private addresses only with the setting for private networks, and none that its settings leave out", async () => {
    const cases: [environment: { [name: string]: string }, known: number][] = [
      [{}, 0],
      [{ PROBER_DEV_MODE: "1" }, 1],
      [{ PROBER_DEV_MODE: "1", PROBER_LEAVE_OUT: `127.4.0.1:${hosts.port}` }, 0],
    ];
    for (const [n, [environment, known]] of cases.entries()) {
      const config = readProberConfig({
        TALLYSTICK_URL: nodeUrl,
        TALLYSTICK_LEDGER: "local",
        PROBER_PRIVATE_KEY: KEY,
        PROBER_CONTACT: "probes@example.com",
        PROBER_DIR: path.join(folder.path, `private-${n}`),
        ...environment,
      });
      running = await runProber({ ...config, port: 0 }, () => {}, { now: () => DAY });
      await running.prober.refresh();
      expect(running.prober.status().hosts).to.equal(known);
      await running.close();
      running = undefined;
    }
  });

  it("unlocks its folder when it cannot start", async () => {
    const own = path.join(folder.path, "unreadable");
    const config = readProberConfig({
      TALLYSTICK_URL: nodeUrl,
      TALLYSTICK_LEDGER: "local",
      PROBER_PRIVATE_KEY: KEY,
      PROBER_CONTACT: "probes@example.com",
      PROBER_DIR: own,
    });
    const reports = path.join(own, "state", "monitoring", "reports.json");
    mkdirSync(path.dirname(reports), { recursive: true });
    writeFileSync(reports, "{");
    const failed = await runProber({ ...config, port: 0 }, () => {}, { policy: loopbackPolicy }).catch(
      (error) => error,
    );
    expect(failed).to.include({ code: "unreadable_value" });
    expect(failed.message).to.contain("monitoring/reports.json");
    rmSync(reports);
    running = await runProber({ ...config, port: 0 }, () => {}, { policy: loopbackPolicy });
    await running.close();
    running = undefined;
  });

  it("makes a report that is just below settlement's limit of size", async () => {
    const looks = new Map(
      Array.from({ length: 1_000 }, (_, n) => [
        `h${n}.${"long".repeat(n % 20)}.example:443`,
        { looked: 0xfff, down: 0xfff },
      ]),
    );
    // The hour is not that of the first test.
    const [first] = makeReports(DAY / 3_600 - 1, "eu", { looks, served: new Map() });
    const body = first ?? {};
    expect(canonicalBody(body).length).to.be.within(50_000, 61_000);
    expect(Object.keys(body.hosts ?? {}).length).to.be.at.most(MAX_PROBED_HOSTS);
    settlement.clock.now = DAY + 3_700;
    const record = await signRecord({ type: "uptime", ledger: "local", body, privateKey: KEY });
    const { status } = await settlement.post("/v1/records", record);
    expect(status).to.equal(201);
  });

  it("names every setting that is missing or wrong", () => {
    const wrong = (environment: { [name: string]: string }): string[] => {
      try {
        readProberConfig(environment);
      } catch (error) {
        return (error as InvalidInputError).issues.map(({ field }) => field);
      }
      return [];
    };
    const right = { PROBER_PRIVATE_KEY: KEY, PROBER_CONTACT: "https://example.com/probes" };
    expect(wrong(right)).to.deep.equal([]);
    expect(wrong({})).to.have.members(["PROBER_PRIVATE_KEY", "PROBER_CONTACT"]);
    for (const [name, value] of Object.entries({
      PROBER_CONTACT: "write to us\r\nx-evil: 1",
      PROBER_REGION: "EU West",
      PROBER_REQUESTS_PER_SECOND: "51",
      PROBER_MAX_HOSTS: "0",
      PROBER_UPLINK: "one.one.one.one",
      PROBER_LEAVE_OUT: "https://seller.example",
      PROBER_DEV_MODE: "yes",
    }))
      expect(wrong({ ...right, [name]: value })[0]?.split(".")[0], name).to.equal(name);
  });
});

/** Waits until a condition is true. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
