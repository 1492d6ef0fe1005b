import { mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { expect } from "chai";
import type { TallystickError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseUptime, type Uptime } from "tallystick-protocol/records/uptime";
import { ask } from "../../services/probing/net/ask.ts";
import { openProberFolder } from "../../services/probing/proberFolder.ts";
import { suiteFolder } from "../support/suiteFolder.ts";
import { behaviours, type LocalHosts, openLocalHosts } from "./support/localHosts.ts";
import {
  agent,
  DAY,
  FIRST_SLOT,
  listingAt,
  observationsOf,
  openTestProber,
  type TestProber,
} from "./support/openTestProber.ts";

const HOUR = DAY / 3_600;

describe("a prober among local hosts", () => {
  const folder = suiteFolder();
  let hosts: LocalHosts;
  let open: TestProber[];

  beforeEach(async () => {
    hosts = await openLocalHosts();
    open = [];
  });

  afterEach(async () => {
    for (const { prober } of open) await prober.close();
    await hosts.close();
  });

  const at = (address: string) => `${address}:${hosts.port}`;
  async function start(...given: Parameters<typeof openTestProber>): Promise<TestProber> {
    const prober = await openTestProber(...given);
    open.push(prober);
    return prober;
  }
  const reportOf = ({ sent }: TestProber): Uptime => {
    expect(sent).to.have.length(1);
    return parseUptime({ ...sent[0], type: "uptime", ledger: "local" });
  };
  const looksAt = (address: string) =>
    hosts.hits.filter((hit) => hit.address === address && hit.path === "/hire");

  it("reports the slots in which each host was down, for all kinds of failure, and the agents that each host serves", async () => {
    const kinds = Object.entries(behaviours).map(([name, behaviour], index) => {
      return { name, behaviour, address: `127.1.0.${index + 1}` };
    });
    const isPatient = (name: string) => name !== "hanging" && name !== "dripping";
    const targets = kinds.map(({ name, address }, index) =>
      listingAt(at(address), agent(index + 1), isPatient(name) ? {} : { maxLatencyMs: 150 }),
    );
    // In the first slot each host serves its agent. So the prober looks at it from the second slot on.
    for (const { address } of kinds) hosts.set(address, behaviours.good);
    const two = at("127.1.0.100");
    const three = at("127.1.0.101");
    for (const address of ["127.1.0.100", "127.1.0.101"]) hosts.set(address, behaviours.good);
    targets.push(listingAt(two, agent(100)), listingAt(three, agent(101)));
    const patient = targets.map((target) => ({ ...target, maxLatencyMs: 10_000 }));
    // These are the requests that the prober begins. A request with a short time limit may end before it arrives.
    const begun: string[] = [];
    const prober = await start(`${folder.path}/kinds`, patient, {
      ask: (question) => {
        if (question.url.endsWith("/hire")) begun.push(question.address);
        return ask(question);
      },
    });
    await prober.passSlot(FIRST_SLOT);
    prober.targets.splice(0, patient.length, ...targets);
    await prober.prober.refresh();

    for (const { address, behaviour } of kinds) hosts.set(address, behaviour);
    for (let slot = 1; slot < 12; slot++) {
      hosts.set("127.1.0.100", slot === 4 || slot === 5 ? behaviours.failing : behaviours.good);
      hosts.set("127.1.0.101", slot >= 4 && slot <= 6 ? behaviours.failing : behaviours.good);
      await prober.passSlot(FIRST_SLOT + slot);
    }
    // One of the twelve requests was the question whether the host serves its agent.
    const looks = new Map(kinds.map((it) => [it.address, begun.filter((to) => to === it.address).length]));
    await prober.reportAt(FIRST_SLOT + 12);
    const { hour, region, part, hosts: told, served } = reportOf(prober);
    expect({ hour, region, part }).to.deep.equal({ hour: HOUR, region: "test", part: 0 });
    const looked = 0b1111_1111_1110;
    for (const { name, address } of kinds) {
      const isUp = name === "good" || name === "lying";
      expect(told[at(address)], name).to.deep.equal([looked, isUp ? 0 : looked]);
      expect(looks.get(address), name).to.equal(12);
    }
    expect(told[two]).to.deep.equal([looked, 0b0000_0011_0000]);
    expect(told[three]).to.deep.equal([looked, 0b0000_0111_0000]);
    expect(Object.keys(served)).to.have.members(targets.map((target) => target.agent));
    expect(hosts.hits.some(({ address }) => address.startsWith("127.99."))).to.equal(false);
  });

  it("asks the listed hosts after a restart within the first hour, also if the node does not answer then", async () => {
    hosts.set("127.1.5.1", behaviours.good);
    const listings = [listingAt(at("127.1.5.1"), agent(1))];
    const first = await start(`${folder.path}/early`, listings);
    await first.prober.close();
    open.pop();
    const failing = async function* () {
      yield* [];
      throw new Error("the node is away");
    };
    const second = await start(`${folder.path}/early`, [], { listings: failing });
    expect(second.logged.join()).to.contain("could not be read or stored");
    await second.passSlot(FIRST_SLOT);
    expect(looksAt("127.1.5.1")).to.have.length(1);
  });

  it("sends requests without payment and with its own name, and looks at a host once in each slot", async () => {
    hosts.set("127.1.1.1", behaviours.good);
    const prober = await start(`${folder.path}/manners`, [listingAt(at("127.1.1.1"), agent(1))]);
    for (let slot = 0; slot < 3; slot++) {
      await prober.passSlot(FIRST_SLOT + slot);
      await prober.prober.refresh();
      prober.prober.tick();
      await prober.prober.idle();
    }
    const asked = hosts.hits.map(({ path }) => path);
    expect(asked).to.deep.equal(["/robots.txt", "/hire", "/hire", "/hire"]);
    for (const { headers } of hosts.hits) {
      expect(headers["user-agent"]).to.equal("tallystick-prober/1.0 (+probes@example.com)");
      expect(headers).to.not.have.any.keys("payment-signature", "x-payment", "cookie", "authorization");
    }
    const hire = JSON.parse(hosts.hits[1]?.body ?? "");
    expect(hire).to.deep.include({ seller_id: agent(1), capability: "compute.statistics.mean" });
    expect(hire).to.not.have.any.keys("signature", "nonce", "budget_token", "callback_url");
  });

  it("does not count a listing on another agent's host, and does not report this host as down", async () => {
    hosts.set("127.1.2.1", behaviours.good);
    const [own, other] = [agent(1), agent(2)];
    const strangers = Array.from({ length: 20 }, (_, index) =>
      listingAt(at("127.1.2.1"), agent(100 + index), { endpoint: `http://${at("127.1.2.1")}/nowhere` }),
    );
    const good: (typeof behaviours)["good"] = (request, response) => {
      if (request.url === "/hire") behaviours.good(request, response, own);
      else response.writeHead(404).end();
    };
    hosts.set("127.1.2.1", good);
    const prober = await start(`${folder.path}/strangers`, [
      listingAt(at("127.1.2.1"), own),
      listingAt(at("127.1.2.1"), other),
      ...strangers,
    ]);
    for (let slot = 0; slot < 12; slot++) await prober.passSlot(FIRST_SLOT + slot);
    // For any number of listings: one look and one question about an agent in each slot.
    expect(hosts.hits.length).to.be.at.most(1 + 2 * 12);
    await prober.reportAt(FIRST_SLOT + 12);
    const { hosts: told, served } = reportOf(prober);
    const [looked = 0, down] = told[at("127.1.2.1")] ?? [];
    expect(down).to.equal(0);
    expect(looked).to.be.above(0);
    expect(Object.keys(served)).to.deep.equal([own]);
  });

  it("does not report a host as down for several slots if it fails only for one of its agents", async () => {
    const [bad, fine] = [agent(1), agent(2)];
    let isBroken = false;
    hosts.set("127.1.3.1", (request, response, payTo) => {
      if (isBroken && payTo === bad) behaviours.failing(request, response);
      else behaviours.good(request, response, payTo);
    });
    const prober = await start(`${folder.path}/shared`, [
      listingAt(at("127.1.3.1"), bad),
      listingAt(at("127.1.3.1"), fine),
    ]);
    for (let slot = 0; slot < 12; slot++) {
      isBroken = slot > 2;
      await prober.passSlot(FIRST_SLOT + slot);
    }
    await prober.reportAt(FIRST_SLOT + 12);
    const { hosts: told, served } = reportOf(prober);
    const [, down = 0] = told[at("127.1.3.1")] ?? [];
    // The next looks ask for another agent of the host.
    expect(down.toString(2).replaceAll("0", "")).to.have.length.at.most(1);
    expect(Object.keys(served)).to.have.members([bad, fine]);
  });

  it("sends nothing to hosts that opt out in robots.txt or by mail, and nothing to private addresses", async () => {
    for (const address of ["127.1.4.1", "127.1.4.2", "127.1.4.3", "127.99.4.4"])
      hosts.set(address, behaviours.good);
    hosts.robots.set("127.1.4.1", "User-agent: tallystick-prober\nDisallow: /");
    const prober = await start(
      `${folder.path}/away`,
      [1, 2, 3]
        .map((n) => listingAt(at(`127.1.4.${n}`), agent(n)))
        .concat(
          listingAt(at("127.99.4.4"), agent(4)),
          listingAt(`name.example:${hosts.port}`, agent(5)),
          listingAt(at("127.1.4.3"), agent(6), { endpoint: `https://${at("127.1.4.3")}` }),
        ),
      // The name has a public address and a private one. So no request goes to this name.
      { leaveOut: [at("127.1.4.2")], resolve: async () => ["127.1.4.3", "127.99.4.4"] },
    );
    for (let slot = 0; slot < 12; slot++) await prober.passSlot(FIRST_SLOT + slot);
    expect(looksAt("127.1.4.1")).to.have.length(0);
    expect(hosts.hits.filter(({ address }) => address === "127.1.4.1")).to.have.length(1);
    for (const address of ["127.1.4.2", "127.99.4.4"])
      expect(hosts.hits.filter((hit) => hit.address === address)).to.have.length(0);
    await prober.reportAt(FIRST_SLOT + 12);
    expect(Object.keys(reportOf(prober).hosts)).to.deep.equal([at("127.1.4.3")]);
  });

  it("asks for a custom capability with params that fit the seller's schema, also after the schema changes", async () => {
    let field = "city";
    hosts.set("127.1.6.1", (request, response, payTo) => {
      if (request.url?.startsWith("/capabilities/")) {
        const input = { type: "object", properties: { [field]: { type: "string" } }, required: [field] };
        response.end(JSON.stringify({ capability: "custom.maps", input, output: {} }));
      } else if (field in (hosts.hits.at(-1)?.params ?? {})) behaviours.good(request, response, payTo);
      else response.writeHead(400).end();
    });
    const prober = await start(`${folder.path}/custom`, [
      listingAt(at("127.1.6.1"), agent(1), { capability: "custom.maps" }),
    ]);
    for (let slot = 0; slot < 12; slot++) {
      if (slot === 6) field = "place";
      await prober.passSlot(FIRST_SLOT + slot);
    }
    const schemas = hosts.hits.filter((hit) => hit.path === "/capabilities/custom.maps/schema");
    expect(schemas).to.have.length(2);
    await prober.reportAt(FIRST_SLOT + 12);
    expect(reportOf(prober).hosts[at("127.1.6.1")]).to.deep.equal([0b1111_1111_1110, 0b0000_0100_0000]);
  });

  it("records nothing while a schema cannot be read and its seller refuses the params, but records a host that is down", async () => {
    let field = "city";
    let slot = 0;
    hosts.set("127.1.7.1", (request, response, payTo) => {
      const isAway = slot === 7 || slot === 8;
      if (request.url?.startsWith("/capabilities/")) {
        const input = { type: "object", properties: { [field]: { type: "string" } }, required: [field] };
        if (isAway) response.writeHead(503).end();
        else response.end(JSON.stringify({ capability: "custom.maps", input, output: {} }));
      } else if (slot === 8) response.writeHead(500).end();
      else if (field in (hosts.hits.at(-1)?.params ?? {})) behaviours.good(request, response, payTo);
      else response.writeHead(400).end();
    });
    const prober = await start(`${folder.path}/unread`, [
      listingAt(at("127.1.7.1"), agent(1), { capability: "custom.maps" }),
    ]);
    for (; slot < 12; slot++) {
      if (slot === 6) field = "place";
      await prober.passSlot(FIRST_SLOT + slot);
    }
    expect(looksAt("127.1.7.1")).to.have.length(12);
    await prober.reportAt(FIRST_SLOT + 12);
    expect(reportOf(prober).hosts[at("127.1.7.1")]).to.deep.equal([0b1111_0111_1110, 0b0001_0100_0000]);
  });

  it("records nothing while its own uplink is lost, and continues afterwards", async () => {
    let isThere = true;
    const addresses = ["127.1.5.1", "127.1.5.2"];
    const targets = addresses.map((address, index) => listingAt(at(address), agent(index + 1)));
    const prober = await start(`${folder.path}/uplink`, targets, { testUplink: async () => isThere });
    for (let slot = 0; slot < 12; slot++) {
      isThere = slot < 4 || slot > 6;
      for (const address of addresses) hosts.set(address, isThere ? behaviours.good : behaviours.broken);
      // The first host is really down in one slot.
      if (slot === 2) hosts.set("127.1.5.1", behaviours.broken);
      await prober.passSlot(FIRST_SLOT + slot);
      // The prober tests repeatedly whether the uplink is back.
      if (slot === 7) await until(() => prober.logged.includes("The uplink is back."));
    }
    await prober.reportAt(FIRST_SLOT + 12);
    const { hosts: told } = reportOf(prober);
    expect(told[at("127.1.5.1")]).to.deep.equal([0b1111_0000_1110, 0b0000_0000_0100]);
    expect(told[at("127.1.5.2")]).to.deep.equal([0b1111_0000_1110, 0]);
    expect(readFileSync(observationsOf(`${folder.path}/uplink`, HOUR), "utf8")).to.match(/ ours /);
  });

  it("continues at once after its clock was far ahead, in the same process and in the next one", async () => {
    hosts.set("127.1.9.1", behaviours.good);
    const place = `${folder.path}/ahead`;
    const targets = [listingAt(at("127.1.9.1"), agent(1))];
    const hours = ({ sent }: TestProber) => sent.map(({ hour }) => Number(hour) - HOUR);
    const first = await start(place, targets);
    await first.passSlot(FIRST_SLOT);
    await first.passSlot(FIRST_SLOT + 400 * 288);
    await first.reportAt(FIRST_SLOT + 400 * 288 + 12);
    const before = looksAt("127.1.9.1").length;
    await first.passSlot(FIRST_SLOT + 12);
    await first.passSlot(FIRST_SLOT + 13);
    expect(looksAt("127.1.9.1").length - before).to.equal(2);
    await first.reportAt(FIRST_SLOT + 24);
    expect(hours(first)).to.include(1);
    await first.prober.close();
    open.splice(0);
    const next = await start(place, targets);
    await next.passSlot(FIRST_SLOT + 26);
    await next.reportAt(FIRST_SLOT + 36);
    expect(hours(next)).to.include(2);
  });

  for (const isRestarted of [false, true])
    it(`does not report what it saw while its clock was ahead${isRestarted ? ", in the next process" : ""}`, async () => {
      const address = isRestarted ? "127.1.10.2" : "127.1.10.1";
      const place = `${folder.path}/undone-${isRestarted}`;
      const targets = [listingAt(at(address), agent(1))];
      let prober = await start(place, targets);
      const pass = async (slot: number, kind: keyof typeof behaviours) => {
        hosts.set(address, behaviours[kind]);
        await prober.passSlot(FIRST_SLOT + slot);
      };
      await pass(0, "good");
      // This slot is in the next hour, whose lines are in another file.
      await pass(13, "failing");
      await pass(1, "good");
      for (const slot of [12, 13, 14]) await pass(slot, "good");
      // This slot is in the same hour.
      await pass(20, "failing");
      for (const slot of [15, 20]) await pass(slot, "good");
      // The clock is set back during this look.
      const asked = Promise.withResolvers<() => void>();
      hosts.set(address, (request, response) => asked.resolve(() => behaviours.failing(request, response)));
      prober.clock.now = (FIRST_SLOT + 24) * 300 - 1;
      prober.prober.tick();
      const answer = await asked.promise;
      // A look of the new time may begin in the same tick in which the clock goes back. It finds the host up.
      hosts.set(address, behaviours.good);
      prober.clock.now = (FIRST_SLOT + 21) * 300;
      prober.prober.tick();
      answer();
      await prober.prober.idle();
      await pass(21, "good");
      if (isRestarted) {
        await prober.prober.close();
        open.splice(0);
        prober = await start(place, targets, {}, prober.clock);
      }
      await prober.reportAt(FIRST_SLOT + 24);
      const report = prober.sent.find(({ hour }) => hour === HOUR + 1);
      expect(report?.hosts).to.deep.equal({ [at(address)]: [0b0011_0000_1111, 0] });
    });

  it("skips lines of later slots that an earlier process wrote while the clock was ahead", async () => {
    hosts.set("127.1.11.1", behaviours.good);
    const place = `${folder.path}/later`;
    const targets = [listingAt(at("127.1.11.1"), agent(1))];
    const first = await start(place, targets);
    await first.passSlot(FIRST_SLOT);
    hosts.set("127.1.11.1", behaviours.failing);
    await first.passSlot(FIRST_SLOT + 5);
    await first.prober.close();
    open.splice(0);
    hosts.set("127.1.11.1", behaviours.good);
    const next = await start(place, targets);
    for (const slot of [1, 5]) await next.passSlot(FIRST_SLOT + slot);
    await next.reportAt(FIRST_SLOT + 12);
    expect(reportOf(next).hosts[at("127.1.11.1")]).to.deep.equal([0b10_0010, 0]);
  });

  it("reports an hour that the disk refused at first", async () => {
    hosts.set("127.1.13.1", behaviours.good);
    const place = `${folder.path}/refused`;
    const prober = await start(place, [listingAt(at("127.1.13.1"), agent(1))]);
    for (const slot of [0, 1]) await prober.passSlot(FIRST_SLOT + slot);
    // A folder with the name of the draft makes each write of the report fail.
    const draft = `${place}/reports/${HOUR}.json.tmp`;
    mkdirSync(draft);
    await prober.reportAt(FIRST_SLOT + 12);
    expect(prober.sent).to.deep.equal([]);
    expect(prober.logged.join(" ")).to.contain("an hour could not be reported");
    rmdirSync(draft);
    await prober.reportAt(FIRST_SLOT + 12);
    expect(reportOf(prober).hosts).to.deep.equal({ [at("127.1.13.1")]: [0b10, 0] });
  });

  it("logs a fault at once after its clock was far ahead at the last one", async () => {
    const ask = () => Promise.reject(new Error("a fault of its own"));
    const prober = await start(`${folder.path}/faults`, [listingAt(at("127.1.17.1"), agent(1))], { ask });
    const faults = () => prober.logged.filter((it) => it.includes("could not be looked at")).length;
    await prober.passSlot(FIRST_SLOT + 400 * 288);
    expect(faults()).to.equal(1);
    await prober.passSlot(FIRST_SLOT + 1);
    expect(faults()).to.equal(2);
  });

  it("reports the next hour when its clock is set back while it closes hours of the future", async () => {
    hosts.set("127.1.12.1", behaviours.good);
    const prober = await start(`${folder.path}/closing`, [listingAt(at("127.1.12.1"), agent(1))]);
    await prober.passSlot(FIRST_SLOT);
    prober.clock.now = DAY + 400 * 86_400;
    prober.prober.tick();
    prober.clock.now = DAY + 300;
    prober.prober.tick();
    await prober.prober.idle();
    await prober.passSlot(FIRST_SLOT + 13);
    await prober.reportAt(FIRST_SLOT + 24);
    expect(prober.sent.map(({ hour }) => Number(hour) - HOUR)).to.include(1);
    // The status shows no hour of the future.
    prober.clock.now = DAY + 600;
    expect(prober.prober.status().last_hour).to.equal(HOUR);
  });

  for (const isRestarted of [false, true])
    it(`reports an hour of which a wrong clock had made a report before${isRestarted ? ", in the next process" : ""}`, async () => {
      const address = isRestarted ? "127.1.14.2" : "127.1.14.1";
      const place = `${folder.path}/early-${isRestarted}`;
      const targets = [listingAt(at(address), agent(1))];
      const sent: RecordBody[] = [];
      let isReachable = false;
      const send = async (body: RecordBody) => {
        if (!isReachable) throw new Error("settlement cannot be reached");
        sent.push(body);
        return { hash: "00" };
      };
      hosts.set(address, behaviours.good);
      let prober = await start(place, targets, { send });
      for (const slot of [0, 1]) await prober.passSlot(FIRST_SLOT + slot);
      // The clock is a day ahead for more than an hour.
      hosts.set(address, behaviours.failing);
      await prober.passSlot(FIRST_SLOT + 289);
      await prober.reportAt(FIRST_SLOT + 300);
      hosts.set(address, behaviours.good);
      prober.clock.now = (FIRST_SLOT + 3) * 300;
      if (isRestarted) {
        await prober.prober.close();
        open.splice(0);
        prober = await start(place, targets, { send }, prober.clock);
      }
      for (const slot of [3, 4]) await prober.passSlot(FIRST_SLOT + slot);
      isReachable = true;
      await prober.reportAt(FIRST_SLOT + 12);
      expect(sent.map(({ hour, hosts: told }) => [hour, told])).to.deep.equal([
        [HOUR, { [at(address)]: [0b11010, 0] }],
      ]);
      for (const slot of [289, 290]) await prober.passSlot(FIRST_SLOT + slot);
      await prober.reportAt(FIRST_SLOT + 300);
      expect(sent).to.have.length(2);
      expect(sent[1]).to.deep.include({ hour: HOUR + 24, hosts: { [at(address)]: [0b110, 0] } });
    });

  for (const [when, address] of [
    ["after its first tick", "127.1.16.1"],
    ["before its first tick", "127.1.16.2"],
  ] as const)
    it(`reports all that it saw also if it starts again before its machine knows the time, and gets it ${when}`, async () => {
      hosts.set(address, behaviours.good);
      const place = `${folder.path}/behind-${address}`;
      const targets = [listingAt(at(address), agent(1))];
      const sent: RecordBody[] = [];
      let isReachable = false;
      const send = async (body: RecordBody) => {
        if (!isReachable) throw new Error("settlement cannot be reached");
        sent.push(body);
        return { hash: "00" };
      };
      const first = await start(place, targets, { send });
      for (const slot of [0, 1]) await first.passSlot(FIRST_SLOT + slot);
      await first.reportAt(FIRST_SLOT + 12);
      await first.passSlot(FIRST_SLOT + 13);
      await first.prober.close();
      open.splice(0);
      const next = await start(place, targets, { send }, { now: DAY - 400 * 86_400 });
      if (when === "after its first tick") next.prober.tick();
      await next.prober.idle();
      await next.prober.report();
      isReachable = true;
      await next.passSlot(FIRST_SLOT + 14);
      await next.reportAt(FIRST_SLOT + 24);
      expect(sent.map(({ hour }) => Number(hour) - HOUR)).to.deep.equal([0, 1]);
      const [early, late] = sent.map(({ hosts: told }) => (told as Uptime["hosts"])[at(address)]);
      expect(early).to.deep.equal([0b10, 0]);
      const [looked = 0, down] = late ?? [];
      expect([looked & 0b110, down]).to.deep.equal([0b110, 0]);
    });

  it("brings nothing back that a wrong clock had stored, once its clock has come to that time without a jump", async () => {
    hosts.set("127.1.18.1", behaviours.good);
    const prober = await start(`${folder.path}/believed`, [listingAt(at("127.1.18.1"), agent(1))]);
    await prober.passSlot(FIRST_SLOT + 4);
    for (let slot = 0; slot <= 5; slot++) await prober.passSlot(FIRST_SLOT + slot);
    await prober.passSlot(FIRST_SLOT + 20);
    const about = prober.logged.filter((it) => it.includes("clock"));
    expect(about).to.deep.equal(["The clock was set back. Looks and reports continue from the new time."]);
  });

  it("sends a report that only a wrong clock found too late", async () => {
    hosts.set("127.1.15.1", behaviours.good);
    const sent: RecordBody[] = [];
    let isReachable = false;
    const send = async (body: RecordBody) => {
      if (!isReachable) throw new Error("settlement cannot be reached");
      sent.push(body);
      return { hash: "00" };
    };
    const prober = await start(`${folder.path}/late`, [listingAt(at("127.1.15.1"), agent(1))], { send });
    for (const slot of [0, 1]) await prober.passSlot(FIRST_SLOT + slot);
    await prober.reportAt(FIRST_SLOT + 12);
    await prober.reportAt(FIRST_SLOT + 288);
    isReachable = true;
    await prober.passSlot(FIRST_SLOT + 13);
    await prober.prober.report();
    expect(sent.map(({ hour }) => hour)).to.deep.equal([HOUR]);
  });

  it("locks its folder", async () => {
    await start(`${folder.path}/alone`, []);
    const second = await openProberFolder(`${folder.path}/alone`).catch((error: TallystickError) => error);
    expect(second).to.have.property("code", "prober_folder");
  });
});

/** Waits until a condition is true. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
