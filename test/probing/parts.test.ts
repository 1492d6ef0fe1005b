import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { costLimitRule } from "@escape.tech/graphql-armor-cost-limit";
import { expect } from "chai";
import { buildSchema, parse, validate } from "graphql";
import { canonicalBody } from "tallystick-protocol/json/recordBody";
import { listingSchema } from "tallystick-protocol/records/listing";
import { parseUptime, type Uptime } from "tallystick-protocol/records/uptime";
import { ServiceError } from "tallystick-sdk/requestService";
import { MAX_ROWS } from "../../indexer/api/graphql/context.ts";
import { LIMITS } from "../../indexer/api/graphql/limits.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { HostMemory } from "../../services/probing/hosts/hostMemory.ts";
import { HostTable } from "../../services/probing/hosts/hostTable.ts";
import { AGENT_QUERY, AGENTS_QUERY, readListings } from "../../services/probing/hosts/readListings.ts";
import { Uplink } from "../../services/probing/net/uplink.ts";
import { readObservation, writeObservation } from "../../services/probing/observations/observation.ts";
import { ObservationFiles } from "../../services/probing/observations/observationFiles.ts";
import { makeReports } from "../../services/probing/reports/makeReports.ts";
import { isRefusal, Outbox, type OutboxParameters } from "../../services/probing/reports/outbox.ts";
import { drawnMoments } from "../../services/probing/schedule/drawnMoments.ts";
import { Pacer } from "../../services/probing/schedule/pacer.ts";
import { suiteFolder } from "../support/suiteFolder.ts";
import { agent, FIRST_SLOT, listingAt } from "./support/openTestProber.ts";

const moments = drawnMoments(`0x${"77".repeat(32)}`);
const bound = (body: object): Uptime =>
  parseUptime({ ...body, type: "uptime", ledger: "local" } as Parameters<typeof parseUptime>[0]);
async function* each<T>(all: T[]): AsyncGenerator<T> {
  yield* all;
}

describe("the moments of a prober's looks", () => {
  it("depend only on the prober's key, the slot and the host, and are not at the end of the slot", () => {
    const again = drawnMoments(`0x${"77".repeat(32)}`);
    const other = drawnMoments(`0x${"78".repeat(32)}`);
    const seconds = Array.from({ length: 2_000 }, (_, slot) => moments.secondOf(slot, "seller.example:443"));
    expect(seconds).to.deep.equal(
      Array.from({ length: 2_000 }, (_, slot) => again.secondOf(slot, "seller.example:443")),
    );
    const same = seconds.filter((second, slot) => second === other.secondOf(slot, "seller.example:443"));
    expect(same.length).to.be.below(40);
    expect(Math.min(...seconds)).to.be.within(0, 5);
    expect(Math.max(...seconds)).to.be.within(279, 284);
  });
});

describe("the pacer", () => {
  it("starts a limited number of requests in any second, and one at a time for each address", async () => {
    let now = 0;
    const pacer = new Pacer({ perSecond: 3, now: () => now });
    const begun: { key: string; at: number }[] = [];
    const done = new Map<string, () => void>();
    const run = (key: string, id = key, isUrgent = true) =>
      pacer.run({ key, isUrgent, isWanted: () => true }, () => {
        begun.push({ key: id, at: now });
        return new Promise<void>((resolve) => done.set(id, resolve));
      });
    const all = [run("a"), run("a", "a slow one", false), run("a", "a2"), run("b"), run("c"), run("d")];
    await turn();
    expect(begun.map(({ key }) => key)).to.deep.equal(["a", "b", "c"]);
    now = 999;
    done.get("a")?.();
    await turn();
    expect(begun).to.have.length(3);
    now = 1_000;
    // The next event, or the timer, starts the other requests.
    await until(() => begun.length === 5);
    // Requests to hosts that hung last time come after the other requests to the same address.
    expect(begun.slice(3).map(({ key }) => key)).to.deep.equal(["d", "a2"]);
    now = 5_000;
    for (const id of ["b", "c", "d", "a2"]) done.get(id)?.();
    await until(() => begun.length === 6);
    done.get("a slow one")?.();
    await Promise.all(all);
    expect(pacer.waiting).to.equal(0);
  });

  it("drops requests that are not wanted any more, and queues a limited number of requests", async () => {
    const pacer = new Pacer({ perSecond: 1_000, maxWaiting: 2 });
    const wanted = { key: "a", isUrgent: true, isWanted: () => true };
    const first = Promise.withResolvers<number>();
    const one = pacer.run(wanted, () => first.promise);
    const two = pacer.run({ ...wanted, isWanted: () => false }, async () => 2);
    const three = pacer.run(wanted, async () => 3);
    expect(await pacer.run(wanted, async () => 4)).to.equal(undefined);
    first.resolve(1);
    expect(await Promise.all([one, two, three])).to.deep.equal([1, undefined, 3]);
  });
});

describe("the uplink", () => {
  it("is not the cause of a failure if a later request got an answer", async () => {
    let isThere = false;
    let now = 0;
    const changes: boolean[] = [];
    const uplink = new Uplink({
      delayMs: 2,
      clock: () => now,
      test: async () => isThere,
      onChange: (isLost) => changes.push(isLost),
    });
    const failure = (begun: number, ended: number) => uplink.isOurs(begun, ended);
    const theirs = failure(0, 10);
    uplink.noteAnswer(9, 12);
    const later = failure(5, 11);
    uplink.noteAnswer(11, 15);
    expect([await theirs, await later]).to.deep.equal([false, false]);

    now = 20;
    expect(await failure(16, 20)).to.equal(true);
    expect(uplink.isLost).to.equal(true);
    expect(await failure(20, 21)).to.equal(true);
    now = 30;
    isThere = true;
    await until(() => !uplink.isLost);
    // This request began before the uplink was back, so its failure does not show that the host is down.
    expect(await failure(25, 35)).to.equal(true);
    expect(await failure(30, 30)).to.equal(false);
    expect(changes).to.deep.equal([true, false]);
    uplink.close();
  });
});

describe("the reports of an hour", () => {
  const hour = 490_896;
  it("contain all hosts, each with at most a thousand hosts and within settlement's limit of size", () => {
    const long = "h".repeat(250);
    const looks = new Map(
      Array.from({ length: 2_500 }, (_, n) => [
        n < 2_200 ? `h${n}.example:443` : `${long}${n}:443`,
        { looked: 0xfff, down: n % 2 },
      ]),
    );
    const served = new Map(
      Array.from({ length: 1_300 }, (_, n) => [
        agent(n),
        new Set(Array.from({ length: n === 7 ? 100 : 1 }, (_, at) => `${n === 7 ? long : "h"}${at}:443`)),
      ]),
    );
    const parts = makeReports(hour, "eu", { looks, served });
    const read = parts.map(bound);
    expect(read.map(({ part }) => part)).to.deep.equal(parts.map((_, index) => index));
    for (const body of parts) expect(canonicalBody(body).length).to.be.below(61_000);
    const hosts = read.flatMap((part) => Object.entries(part.hosts));
    expect(hosts).to.have.length(2_500);
    expect(new Map(hosts).get("h1.example:443")).to.deep.equal([0xfff, 1]);
    const pairs = read.flatMap((part) =>
      Object.entries(part.served).flatMap(([id, of]) => of.map((it) => [id, it])),
    );
    expect(new Set(pairs.map(String))).to.have.property("size", 1_299 + 100);
    expect(makeReports(hour, "eu", { looks: new Map(), served: new Map() })).to.deep.equal([]);
  });
});

describe("the observations of a prober", () => {
  const folder = suiteFolder();

  it("are the same after they are written and read, and invalid lines are skipped", () => {
    const about = { slot: FIRST_SLOT, at: 1_767_225_600_123, host: "seller.example:443" };
    for (const it of [
      { ...about, what: "ask" },
      { ...about, what: "up", milliseconds: 12 },
      { ...about, what: "down", why: "late" },
      { ...about, what: "ours" },
      { ...about, what: "served", agent: agent(7) },
      { ...about, what: "unserved", agent: agent(7) },
      { ...about, what: "robots", optedOut: undefined },
      { ...about, what: "robots", optedOut: true },
    ] as const)
      expect(readObservation(writeObservation(it).trimEnd())).to.deep.equal(it);
    for (const line of [
      "",
      "1",
      "1 2 ask",
      "x 2 ask h",
      "1 2 what h",
      "1 2 up h",
      "1 2 served h 0x",
      "1 2 robots h x",
    ])
      expect(readObservation(line), line).to.equal(undefined);
  });

  it("are compressed, and the oldest are deleted when they are too old or too many", async () => {
    const observations = path.join(folder.path, "observations");
    mkdirSync(observations);
    const files = new ObservationFiles(observations);
    const first = FIRST_SLOT / 12;
    for (let hour = first; hour < first + 60; hour++)
      for (let n = 0; n < 20; n++)
        files.write({ slot: hour * 12 + 3, at: 1, host: `h${n}.example:443`, what: "up", milliseconds: n });
    writeFileSync(path.join(observations, "notes.txt"), "not ours");
    const last = first + 59;
    await files.tidy(last, { days: 2, bytes: 1_000_000 });
    const hours = () =>
      readdirSync(observations)
        .filter((name) => name.includes(".log"))
        .map((name) => Number.parseInt(name, 10))
        .sort();
    expect(hours()).to.deep.equal(Array.from({ length: 49 }, (_, index) => last - 48 + index));
    const count = async (hour: number) => {
      let lines = 0;
      for await (const it of files.read(hour)) if (it.what === "up") lines++;
      return lines;
    };
    expect(await count(last)).to.equal(20);
    expect(readdirSync(observations)).to.include(`${last - 30}.log.gz`);
    expect(await count(last - 30)).to.equal(20);
    await files.tidy(last, { days: 2, bytes: 5_000 });
    expect(await files.size()).to.be.below(6_000);
    expect(hours()).to.include(last);
    expect(readdirSync(observations)).to.include("notes.txt");
    files.close();
  });
});

describe("the outbox of a prober", () => {
  const folder = suiteFolder();

  it("stores a removed report again also if the disk refused it at first", async () => {
    const reports = path.join(folder.path, "reports");
    mkdirSync(reports);
    const outbox = new Outbox({ folder: reports, send: async () => ({ hash: "00" }), log: () => {} });
    const hour = FIRST_SLOT / 12;
    await outbox.add(hour, [{ hour }]);
    expect(await outbox.goBackTo((hour - 5) * 3_600)).to.have.length(1);
    rmSync(reports, { recursive: true });
    const now = (hour + 1) * 3_600;
    expect(
      await outbox.goForwardTo(now).then(
        () => "stored",
        () => "refused",
      ),
    ).to.equal("refused");
    mkdirSync(reports);
    await outbox.goForwardTo(now);
    expect(outbox.waiting).to.equal(1);
  });

  const hour = FIRST_SLOT / 12;
  /** The first second after the hour, and a time long before the hour. */
  const [over, before] = [(hour + 1) * 3_600, (hour - 5) * 3_600];
  let outboxes = 0;
  function open(send: OutboxParameters["send"], onEnd?: OutboxParameters["onEnd"]): Outbox {
    const own = path.join(folder.path, `outbox${outboxes++}`);
    mkdirSync(own);
    return new Outbox({ folder: own, send, log: () => {}, ...(onEnd && { onEnd }) });
  }
  const refusal = (status: number) => new ServiceError({ code: "x", message: "no", status });

  it("opens although a report is damaged, which it does not make again", async () => {
    const own = path.join(folder.path, "damaged");
    mkdirSync(own);
    const lines: unknown[] = [];
    const openAgain = () =>
      new Outbox({ folder: own, send: async () => ({ hash: "00" }), log: (...line) => lines.push(line) });
    const earlier = openAgain();
    for (const it of [hour, hour + 1]) await earlier.add(it, [{ hour: it }]);
    writeFileSync(path.join(own, `${hour}.json`), "{");
    const outbox = openAgain();
    await outbox.open();
    expect([outbox.waiting, outbox.lastHour()]).to.deep.equal([1, hour + 1]);
    expect(JSON.stringify(lines)).to.contain(String(hour));
    await outbox.add(hour, [{ hour }]);
    expect(outbox.waiting).to.equal(1);
  });

  it("keeps a report of which settlement has a part when the clock is set back", async () => {
    const outbox = open(async ({ part }) => {
      if (part === 1) throw new Error("settlement is away");
      return { hash: "00" };
    });
    await outbox.add(hour, [
      { hour, part: 0 },
      { hour, part: 1 },
    ]);
    await outbox.sendAll(over);
    expect(await outbox.goBackTo(before)).to.deep.equal([]);
    expect([outbox.waiting, outbox.lastHour()]).to.deep.equal([1, hour]);
  });

  it("looks at its reports only after a round of sending when the clock is set back", async () => {
    const answer = Promise.withResolvers<{ hash: string }>();
    const outbox = open(() => answer.promise);
    await outbox.add(hour, [{ hour }]);
    const round = outbox.sendAll(over);
    const removed = outbox.goBackTo(before);
    for (let n = 0; n < 100; n++) await turn();
    answer.resolve({ hash: "00" });
    await round;
    expect(await removed, "settlement has it").to.deep.equal([]);
    expect(outbox.lastHour()).to.equal(hour);
  });

  it("stores no removed report again whose hour was running, or began since then", async () => {
    const outbox = open(async () => ({ hash: "00" }));
    await outbox.add(hour, [{ hour }]);
    expect(await outbox.goBackTo(over - 60)).to.have.length(1);
    await outbox.goForwardTo(over);
    expect(outbox.waiting).to.equal(0);
    await outbox.add(hour, [{ hour }]);
    expect(await outbox.goBackTo(before)).to.have.length(1);
    outbox.forgetRemoved(hour);
    await outbox.goForwardTo(over);
    expect(outbox.waiting).to.equal(0);
  });

  it("sends a refused part five times, because settlement's clock may be slow", async () => {
    for (const refusals of [4, 5]) {
      let sent = 0;
      const ends: string[] = [];
      const outbox = open(
        async () => {
          if (++sent <= refusals) throw refusal(400);
          return { hash: "00" };
        },
        (state) => ends.push(state),
      );
      await outbox.add(hour, [{ hour }]);
      for (let n = 0; n < 6; n++) await outbox.sendAll(over);
      expect([sent, ends]).to.deep.equal([5, [refusals === 4 ? "settled" : "refused"]]);
    }
  });

  it("counts as a refusal only an answer that comes again for the same record", () => {
    const statuses = [0, 400, 401, 403, 404, 408, 409, 422, 425, 429, 500, 503];
    expect(statuses.filter((status) => isRefusal(refusal(status)))).to.deep.equal([400, 409, 422]);
    expect(isRefusal(new Error("settlement is away"))).to.equal(false);
  });
});

describe("the hosts of a prober", () => {
  it("are first those that serve an agent, if there are too many hosts", async () => {
    const memory = new HostMemory();
    const day = FIRST_SLOT / 288;
    const table = new HostTable({ maxHosts: 50, moments, memory, problemOf: () => undefined });
    for (let n = 0; n < 20; n++) memory.noteServed(`good${n}.example:443`, agent(n), day - 3);
    memory.noteServed("gone.example:443", agent(20), day - 8);
    const flood = Array.from({ length: 5_000 }, (_, n) =>
      listingAt(`flood${n}.example:443`, agent(1_000 + n)),
    );
    const good = Array.from({ length: 20 }, (_, n) =>
      listingAt("", agent(n), { endpoint: `https://good${n}.example` }),
    );
    await table.load(each([...flood, ...good]), day);
    expect(table.size).to.equal(50);
    for (let n = 0; n < 20; n++) expect(table.get(`good${n}.example:443`), String(n)).to.not.equal(undefined);
    expect(table.leftOut).to.equal(4_970);
    expect(memory.serves("gone.example:443", day)).to.equal(false);
  });

  it("leave places to new hosts and small sites if one site has more hosts that serve somebody than there are places", async () => {
    const memory = new HostMemory();
    const day = FIRST_SLOT / 288;
    const table = new HostTable({ maxHosts: 50, moments, memory, problemOf: () => undefined });
    const at = (host: string, n: number) => listingAt("", agent(n), { endpoint: `https://${host}` });
    const evil = Array.from({ length: 200 }, (_, n) => at(`h${n}.evil.example`, n));
    for (const [n, { agent: of }] of evil.entries()) memory.noteServed(`h${n}.evil.example:443`, of, day);
    const honest = [at("z.honest.example", 1_000), at("z.other.example", 1_001)];
    memory.noteServed("z.honest.example:443", agent(1_000), day);
    await table.load(each([...evil, ...honest]), day);
    expect(table.size).to.equal(50);
    for (const host of ["z.honest.example:443", "z.other.example:443"])
      expect(table.get(host), host).to.not.equal(undefined);
    // Invented hosts get at most a tenth of the places, because the hosts that serve somebody need the rest.
    const flood = Array.from({ length: 200 }, (_, n) => at(`flood${n}.example`, 2_000 + n));
    await table.load(each([...flood, ...evil, ...honest]), day);
    const serving = [...table.keys()].filter((key) => memory.serves(key, day));
    expect(serving).to.have.length(45).and.to.include("z.honest.example:443");
  });

  it("keep a serving host below the suffix of a hosting service, however many hosts one of its customers has", async () => {
    const memory = new HostMemory();
    const day = FIRST_SLOT / 288;
    const table = new HostTable({ maxHosts: 50, moments, memory, problemOf: () => undefined });
    const hosts = Array.from({ length: 200 }, (_, n) => `h${n}.evil.vercel.app`).concat("honest.vercel.app");
    for (const [n, host] of hosts.entries()) memory.noteServed(`${host}:443`, agent(n), day);
    await table.load(
      each(hosts.map((host, n) => listingAt("", agent(n), { endpoint: `https://${host}` }))),
      day,
    );
    expect(table.get("honest.vercel.app:443")).to.not.equal(undefined);
  });

  it("are drawn without turns of sites if they serve nobody, because names of invented sites cost nothing", async () => {
    const day = FIRST_SLOT / 288;
    const memory = new HostMemory();
    const table = new HostTable({ maxHosts: 60, moments, memory, problemOf: () => undefined });
    const at = (host: string, n: number) => listingAt("", agent(n), { endpoint: `https://${host}` });
    const shared = Array.from({ length: 60 }, (_, n) => at(`h${n}.fly.example`, n));
    const invented = Array.from({ length: 60 }, (_, n) => at(`www.flood${n}.example`, 1_000 + n));
    await table.load(each([...shared, ...invented]), day);
    expect([...table.keys()].filter((key) => key.includes("fly.example"))).to.have.length.above(15);
  });

  it("keep a new agent of a host although a thousand others were registered before, and were asked for already", async () => {
    const memory = new HostMemory();
    const day = FIRST_SLOT / 288;
    const table = new HostTable({ maxHosts: 50, moments, memory, problemOf: () => undefined });
    const key = "shared.example:443";
    const at = (n: number) => listingAt("", agent(n), { endpoint: "https://shared.example" });
    const others = Array.from({ length: 3_000 }, (_, n) => at(n));
    for (const { agent: of } of others) memory.noteAsked(key, of, day - 1);
    memory.noteServed(key, agent(2_000), day);
    await table.load(each([...others, at(5_000)]), day);
    const agents = [...(table.get(key)?.agents.keys() ?? [])];
    expect(agents)
      .to.have.length(1_001)
      .and.to.include.members([agent(0), agent(499), agent(2_000), agent(5_000)]);
  });

  it("are looked at again by the listing that answered last, however many listings of others fail", () => {
    const memory = new HostMemory();
    const bad = Array.from({ length: 20 }, (_, n) => `bad${n}`);
    const listings = [...bad.slice(0, 10), "good", ...bad.slice(10)];
    const look = (broken: readonly string[]): boolean => {
      const listing = memory.listingFor("a.example:443", listings, (it) => it) as string;
      const isUp = !broken.includes(listing);
      memory.noteLook("a.example:443", isUp, listing);
      return isUp;
    };
    expect(look([])).to.equal(true);
    // The first listing was up. From now on it fails, and so do all others but one.
    let downs = 0;
    while (!look(bad)) downs++;
    expect(downs).to.be.at.most(40);
    // The good listing fails once.
    const looks = [[...bad, "good"], bad, bad, bad].map(look);
    expect(looks).to.deep.equal([false, false, true, true]);
    // The next process knows the good listing.
    const next = new HostMemory();
    next.take(JSON.parse(JSON.stringify(memory.toJson())));
    expect(next.listingFor("a.example:443", listings, (it) => it)).to.equal("good");
  });

  it("are looked at by one listing after the other if the good listing is gone", () => {
    const memory = new HostMemory();
    memory.noteLook("a.example:443", true, "gone");
    const used = [1, 2].map(() => {
      const listing = memory.listingFor("a.example:443", ["first", "second"], (it) => it);
      memory.noteLook("a.example:443", false, listing);
      return listing;
    });
    expect(used).to.have.members(["first", "second"]);
  });

  it("were not asked on a day of the future, also if the clock jumps forward after it was set back", () => {
    const [key, memory] = ["a.example:443", new HostMemory()];
    memory.noteServed(key, agent(1), 20_400);
    memory.noteServed(key, agent(2), 20_000);
    memory.goBackTo(19_990);
    expect([1, 2].map((n) => memory.askedOn(key, agent(n)))).to.deep.equal([19_990, 19_990]);
    memory.goForwardTo(20_001);
    expect([1, 2].map((n) => memory.askedOn(key, agent(n)))).to.deep.equal([19_990, 20_000]);
  });

  it("are remembered although the clock is a week ahead for a moment, also at the start of a process", () => {
    let elapsed = 0;
    const [key, memory] = ["a.example:443", new HostMemory(() => elapsed)];
    memory.noteServed(key, agent(1), 20_000);
    for (const day of [20_000, 20_007, 20_007, 20_006, 20_006]) {
      memory.keepOnly(() => true, day);
      elapsed += 900_000;
    }
    expect(memory.serves(key, 20_006)).to.equal(true);
    const next = new HostMemory(() => elapsed);
    next.take(memory.toJson());
    for (let times = 0; times < 3; times++) next.keepOnly(() => true, 20_007);
    expect(next.serves(key, 20_006)).to.equal(true);
    // The clock is right.
    for (let times = 0; times < 2; times++) {
      elapsed += 3_600_000;
      next.keepOnly(() => true, 20_007);
    }
    expect(next.toJson()[key]).to.deep.include({ served: {}, asked: {} });
    next.keepOnly(() => false, 20_007);
    expect(next.toJson()).to.deep.equal({});
  });

  it("are remembered by the next process", () => {
    const memory = new HostMemory();
    memory.noteServed("a.example:443", agent(1), 20_000);
    memory.noteRobots("b.example:443", 20_000, true);
    const next = new HostMemory();
    next.take(JSON.parse(JSON.stringify(memory.toJson())));
    expect(next.hasServed("a.example:443", agent(1), 20_006)).to.equal(true);
    expect(next.hasServed("a.example:443", agent(1), 20_007)).to.equal(false);
    expect(next.isOptedOut("b.example:443")).to.equal(true);
    // A robots.txt that cannot be read changes nothing.
    next.noteRobots("b.example:443", 20_001, undefined);
    expect(next.isOptedOut("b.example:443")).to.equal(true);
  });
});

describe("the listings of a node", () => {
  const schema = buildSchema(readFileSync(path.join(repositoryRoot, "indexer/schema.graphql"), "utf8"));

  it("are requested with queries that fit the node's schema and limits", () => {
    for (const query of [AGENTS_QUERY, AGENT_QUERY]) {
      const rules = costLimitRule({ maxCost: LIMITS.cost, flattenFragments: true });
      expect(validate(schema, parse(query)), query).to.deep.equal([]);
      expect(validate(schema, parse(query), [rules]), query).to.deep.equal([]);
    }
    expect(50 + 50 * 10).to.be.below(MAX_ROWS);
  });

  it("are read page by page, completely for an agent with many listings, and again after a refusal of a busy node", async () => {
    const listing = (n: number) => ({
      capability: "text.translate.en.it",
      endpoint: `https://h${n}.example`,
      paymentMode: "direct",
      maxLatencyMs: 1_000,
      payee: null,
    });
    const asked: string[] = [];
    const pauses: number[] = [];
    let isBusy = true;
    const pause = async (ms: number) => void pauses.push(ms);
    let isReady = false;
    const fetch = async (url: string, init?: RequestInit): Promise<Response> => {
      if (url.endsWith("/ready")) return new Response("", { status: isReady ? 200 : 503 });
      if (isBusy) {
        isBusy = false;
        return new Response('{"errors": [{"message": "slower"}]}', { status: 429 });
      }
      const { variables } = JSON.parse(String(init?.body)) as {
        variables: { after?: string; address?: string };
      };
      asked.push(JSON.stringify(variables));
      if (variables.address !== undefined)
        return Response.json({ data: { agent: { listings: { nodes: [2, 3, 4].map(listing) } } } });
      const page = variables.after === null ? 1 : 2;
      const nodes = [
        { address: agent(page), listings: { nodes: [listing(page)], pageInfo: { hasNextPage: page === 2 } } },
      ];
      return Response.json({
        data: { agents: { nodes, pageInfo: { hasNextPage: page === 1, endCursor: "next" } } },
      });
    };
    const node = { baseUrl: "http://node.example", fetch, signal: new AbortController().signal };
    const read: string[] = [];
    // A node that still reads the chain has only few listings.
    const early = readListings({ ...node, pause }).next();
    expect(await early.catch((error: unknown) => error)).to.have.property("status", 503);
    expect(asked).to.deep.equal([]);
    isReady = true;
    for await (const { agent: id, endpoint } of readListings({ ...node, pause }))
      read.push(`${id} ${endpoint}`);
    expect(read).to.deep.equal([
      `${agent(1)} https://h1.example`,
      ...[2, 3, 4].map((n) => `${agent(2)} https://h${n}.example`),
    ]);
    expect(asked).to.deep.equal([
      '{"after":null}',
      '{"after":"next"}',
      JSON.stringify({ address: agent(2) }),
    ]);
    expect(pauses).to.have.length(1);
  });
});

describe("a hostile node", () => {
  const signal = new AbortController().signal;
  const readFrom = async (data: (page: number) => unknown, maxPages = 50) => {
    let pages = 0;
    const fetch = async (url: string) =>
      url.endsWith("/ready") ? new Response("") : Response.json({ data: data(pages++) });
    const node = { baseUrl: "http://node.example", fetch, signal, pause: async () => {} };
    let listings = 0;
    const failure = await (async () => {
      for await (const _ of readListings({ ...node, maxPages })) listings++;
    })().catch((error: unknown) => error);
    return { failure, pages, listings };
  };
  const one = { capability: "text.translate.en.it", endpoint: "https://h.example", paymentMode: "direct" };
  const nodes = [
    {
      address: agent(1),
      listings: { nodes: [{ ...one, maxLatencyMs: 1, payee: null }], pageInfo: { hasNextPage: false } },
    },
  ];
  const page = (of: unknown[], endCursor: string) => ({
    agents: { nodes: of, pageInfo: { hasNextPage: true, endCursor } },
  });

  it("cannot keep the prober reading by naming a next page forever", async () => {
    const endless = await readFrom((n) => page(nodes, `cursor${n}`));
    expect(endless.failure).to.include({ name: "ServiceError", code: "endless_list" });
    expect(endless.pages).to.equal(50);
    const empty = await readFrom((n) => page([], `cursor${n}`));
    expect(empty).to.deep.equal({ failure: undefined, pages: 1, listings: 0 });
    const inTurn = await readFrom((n) => page(nodes, `cursor${n % 2}`));
    expect(inTurn.failure).to.include({ code: "endless_list" });
  });

  it("gives a ServiceError if its answer has another form", async () => {
    const agents = page(nodes, "c").agents;
    for (const data of [
      {},
      { agents: null },
      { agents: { ...agents, nodes: [null] } },
      { agents: { ...agents, pageInfo: null } },
      { agents: { ...agents, nodes: Array.from({ length: 51 }, () => nodes[0]) } },
    ]) {
      const { failure } = await readFrom(() => data);
      expect(failure, JSON.stringify(data).slice(0, 80)).to.include({
        ...{ name: "ServiceError", code: "unreadable_answer", status: 0 },
      });
    }
  });
});

describe("a hostile listing", () => {
  it("is used if it is valid, is skipped if it is not, and never stops the prober from using other listings", async () => {
    const usual = {
      capability: "text.translate.en.it",
      endpoint: "https://h.example",
      paymentMode: "direct",
    };
    const rest = { maxLatencyMs: 1_000, payee: null };
    const long = `https://long.example/${"x".repeat(500)}`;
    const mode = `custom_escrow:${long}`;
    // The node accepts such a listing, so a prober must accept it too.
    const body = { agent_id: agent(1), price_usdc: "0.05", max_latency_ms: 1_000, payment_mode: mode };
    expect(listingSchema.safeParse({ ...usual, ...body, endpoint: long }).success).to.equal(true);
    const nodes = [
      { ...usual, ...rest, endpoint: long, paymentMode: mode },
      { ...usual, ...rest, endpoint: 7 },
      null,
      { ...usual, ...rest },
    ];
    const fetch = async (url: string) => {
      if (url.endsWith("/ready")) return new Response("");
      const agents = {
        nodes: [{ address: agent(1), listings: { nodes, pageInfo: { hasNextPage: false } } }],
        pageInfo: { hasNextPage: false, endCursor: null },
      };
      return Response.json({ data: { agents } });
    };
    const signal = new AbortController().signal;
    const read: string[] = [];
    const node = { baseUrl: "http://node.example", fetch, signal, pause: async () => {} };
    for await (const { endpoint } of readListings(node)) read.push(endpoint);
    expect(read).to.deep.equal([long, "https://h.example"]);
  });
});

/** Waits for one turn of the event loop. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Waits until a condition is true. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 2));
}
