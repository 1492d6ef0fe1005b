import { expect } from "chai";
import { HostMemory } from "../../services/probing/hosts/hostMemory.ts";
import type { Host } from "../../services/probing/hosts/hostTable.ts";
import { HostVisits } from "../../services/probing/hosts/hostVisits.ts";
import { Visit, type VisitParameters } from "../../services/probing/hosts/visit.ts";
import { type Answer, NoAnswer, type Question } from "../../services/probing/net/ask.ts";
import { Uplink } from "../../services/probing/net/uplink.ts";
import { HourBook } from "../../services/probing/observations/hourBook.ts";
import type { Observation } from "../../services/probing/observations/observation.ts";
import { drawnMoments } from "../../services/probing/schedule/drawnMoments.ts";
import { bitOf, dayOf, hourOf } from "../../services/probing/schedule/slots.ts";
import { agent, FIRST_SLOT } from "./support/openTestProber.ts";

const KEY = "a.example:443";

describe("the book of a prober's hour", () => {
  const at = { at: 0, host: KEY };
  const hour = hourOf(FIRST_SLOT);

  it("has each look in its slot, and no hour that was already reported", () => {
    const book = new HourBook();
    book.note({ ...at, slot: FIRST_SLOT, what: "up", milliseconds: 5 });
    book.note({ ...at, slot: FIRST_SLOT + 1, what: "down", why: "late" });
    book.note({ ...at, slot: FIRST_SLOT + 2, what: "ours" });
    book.note({ ...at, slot: FIRST_SLOT + 12, what: "served", agent: agent(1) });
    const [over, ...others] = book.closeBefore(hour + 1);
    if (over === undefined) throw new Error("the book has no hour");
    expect([over[0], others]).to.deep.equal([hour, []]);
    const [first, second] = [bitOf(FIRST_SLOT), bitOf(FIRST_SLOT + 1)];
    expect(over[1].looks.get(KEY)).to.deep.equal({ looked: first | second, down: second });
    book.note({ ...at, slot: FIRST_SLOT + 3, what: "down", why: "late" });
    expect(book.closeBefore(hour + 1), "not stored yet").to.deep.equal([over]);
    expect(over[1].looks.get(KEY)).to.deep.equal({ looked: first | second, down: second });
    book.remove(...over);
    expect(book.closeBefore(hour + 1), "already reported").to.deep.equal([]);
    expect(book.closeBefore(hour + 2).map(([of]) => of)).to.deep.equal([hour + 1]);
  });

  it("knows which hosts were asked in the current slot", () => {
    const book = new HourBook();
    book.note({ ...at, slot: FIRST_SLOT + 1, what: "ask" });
    book.note({ ...at, slot: FIRST_SLOT, host: "old.example:443", what: "ask" });
    expect(book.wasAsked(FIRST_SLOT + 1, KEY)).to.equal(true);
    expect(book.wasAsked(FIRST_SLOT + 1, "old.example:443")).to.equal(false);
    book.note({ ...at, slot: FIRST_SLOT + 2, host: "next.example:443", what: "ask" });
    expect(book.wasAsked(FIRST_SLOT + 1, KEY)).to.equal(false);
  });
});

describe("a failed look at a host", () => {
  const open = () =>
    new Uplink({ delayMs: 60_000, clock: () => 0, test: async () => false, onChange: () => {} });

  it("is the host's failure only after an answer to a later request", async () => {
    const uplink = open();
    const failure = uplink.isOurs(0, 10);
    uplink.noteAnswer(9, 100);
    uplink.close();
    expect(await failure).to.equal(true);
    const other = open();
    const theirs = other.isOurs(0, 10);
    other.noteAnswer(10, 11);
    other.close();
    expect(await theirs).to.equal(false);
  });

  it("is dropped as the prober's own failure if too many failures wait, the oldest first", async () => {
    const uplink = open();
    const oldest = uplink.isOurs(0, 1);
    const others = Array.from({ length: 20_000 }, () => uplink.isOurs(0, 1));
    expect(await oldest).to.equal(true);
    uplink.noteAnswer(1, 2);
    uplink.close();
    expect((await Promise.all(others)).every((isOurs) => !isOurs)).to.equal(true);
  });
});

describe("a visit to a host", () => {
  const OK = { status: 200, headers: new Headers(), text: "", isCut: false } as unknown as Answer;

  /** A prober without a network. Each request gets the next reply, after the reply's time. */
  const proberWith = (replies: [ms: number, Answer | NoAnswer["reason"]][]) => {
    let now = 0;
    const asked: Pick<Question, "url" | "address" | "timeoutMs">[] = [];
    const seen: Observation[] = [];
    const memory = new HostMemory();
    const it = {
      ...{ memory, signal: new AbortController().signal, clock: () => now, now: () => now },
      policy: { isPublic: () => true },
      resolve: async () => ["192.0.2.1", "192.0.2.2"],
      pacer: { run: (_: unknown, work: () => Promise<unknown>) => work() },
      uplink: { noteAnswer: () => {}, isOurs: async () => false },
      moments: drawnMoments(`0x${"77".repeat(32)}`),
      asker: { address: agent(0), userAgent: "test" },
      metrics: { countRequest: () => {}, observeAnswer: () => {}, countLook: () => {} },
      record: (observation: Observation) => void seen.push(observation),
      ask: async ({ url, address, timeoutMs }: Question) => {
        asked.push({ url, address, timeoutMs });
        const [ms, reply] = replies.shift() ?? [0, OK];
        now += ms;
        if (typeof reply === "string") throw new NoAnswer(reply);
        return reply;
      },
    } as unknown as VisitParameters;
    return { it, asked, seen, memory };
  };
  const found = { addresses: ["192.0.2.1", "192.0.2.2"] };
  const host: Host = { key: KEY, agents: new Map() };
  const about = { host, slot: FIRST_SLOT, found, isWanted: () => true };
  const question = { url: "https://a.example/hire", headers: {}, timeoutMs: 1_000 } as Question;

  it("tries the next address of a name in the remaining time if an address is unreachable, and after no other failure", async () => {
    const cases: [number, NoAnswer["reason"], number[]][] = [
      [400, "unreachable", [1_000, 600]],
      [1_000, "unreachable", [1_000]],
      [400, "late", [1_000]],
      [400, "broken", [1_000]],
    ];
    for (const [ms, reason, times] of cases) {
      const { it: prober, asked, seen } = proberWith([[ms, reason]]);
      const reply = await new Visit(prober, about).ask(question);
      expect(
        asked.map(({ timeoutMs }) => timeoutMs),
        `${ms} ${reason}`,
      ).to.deep.equal(times);
      if (times.length === 1) expect(reply, reason).to.deep.equal({ failed: reason, begun: 0, ended: ms });
      else expect(reply).to.have.property("answer");
      expect(
        seen.map(({ what }) => what),
        "written once, before the first request",
      ).to.deep.equal(["ask"]);
    }
  });

  it("obeys an earlier robots.txt while the file cannot be read, but not after it was removed", async () => {
    const said = (status: number, text = "") => [0, { ...OK, status, text }] as [number, Answer];
    const agents = new Map([[agent(1), [{ endpoint: "https://a.example", capability: "none" }]]]);
    for (const [reply, isOut] of [
      [said(503), true],
      [said(500), true],
      [[0, "late"] as [number, "late"], true],
      [said(404), false],
      [said(200, "user-agent: tallystick-prober\ndisallow: /"), true],
      [said(200, "user-agent: *\ndisallow: /"), false],
    ] as const) {
      const { it: prober, memory } = proberWith([reply as [number, Answer]]);
      memory.noteRobots(KEY, dayOf(FIRST_SLOT) - 1, true);
      const late = FIRST_SLOT + 287;
      await new HostVisits(prober).visit({ key: KEY, agents: agents as never }, late, () => true);
      expect(memory.isOptedOut(KEY), JSON.stringify(reply)).to.equal(isOut);
      expect(memory.robotsDay(KEY)).to.equal(dayOf(FIRST_SLOT));
    }
  });

  it("asks for a new agent in every second slot, however many agents registered before", async () => {
    const { it: prober, memory, seen } = proberWith([]);
    const target = {
      endpoint: "https://a.example",
      capability: "compute.statistics.mean",
      maxLatencyMs: 1_000,
    };
    const numbers = [...Array.from({ length: 600 }, (_, n) => n + 1), 9_999];
    const agents = new Map(numbers.map((n) => [agent(n), [target]]));
    for (const n of numbers.slice(0, -1)) memory.noteAsked(KEY, agent(n), dayOf(FIRST_SLOT) - 1);
    memory.noteRobots(KEY, dayOf(FIRST_SLOT), false);
    for (const slot of [FIRST_SLOT + 286, FIRST_SLOT + 287])
      await new HostVisits(prober).visit({ key: KEY, agents: agents as never }, slot, () => true);
    const asked = seen.flatMap((it) => (it.what === "unserved" ? [it.agent] : []));
    expect(asked).to.deep.equal([agent(1), agent(9_999)]);
  });

  it("does not find a host down that refuses params while its schema cannot be read", async () => {
    const custom = {
      agent: agent(1),
      endpoint: "https://a.example",
      paymentMode: "direct",
      maxLatencyMs: 1_000,
    };
    const agents = new Map([[agent(1), [{ ...custom, capability: "custom.x" }]]]);
    for (const [status, downs] of [
      [403, 0],
      [404, 1],
      [408, 0],
      [429, 0],
      [503, 0],
    ] as const) {
      const {
        it: prober,
        memory,
        seen,
      } = proberWith([
        [0, { ...OK, status }],
        [0, { ...OK, status: 400 }],
      ]);
      memory.noteServed(KEY, agent(1), dayOf(FIRST_SLOT));
      memory.noteRobots(KEY, dayOf(FIRST_SLOT), false);
      await new HostVisits(prober).visit({ key: KEY, agents: agents as never }, FIRST_SLOT, () => true);
      expect(
        seen.filter(({ what }) => what === "down"),
        `${status}`,
      ).to.have.length(downs);
    }
  });

  it("uses another listing in the next slot if no params fit the schema of a listing", async () => {
    const input = {
      type: "object",
      required: ["a"],
      properties: { a: { type: "string", pattern: "^x{3}7$" } },
    };
    const schema = { ...OK, text: JSON.stringify({ input, output: {} }) };
    const endpoint = "https://a.example";
    const custom = {
      agent: agent(1),
      endpoint,
      capability: "custom.x",
      paymentMode: "direct",
      maxLatencyMs: 1_000,
    };
    const mean = { ...custom, capability: "compute.statistics.mean" };
    const agents = new Map([[agent(1), [custom, mean]]]);
    const isLook = ({ what }: Observation) => what === "up" || what === "down";
    const day = dayOf(FIRST_SLOT);
    // Also if the other listing answered last and then failed.
    for (const isKnown of [false, true]) {
      const { it: prober, memory, seen } = proberWith([[0, schema]]);
      memory.noteServed(KEY, agent(1), day);
      memory.noteRobots(KEY, day, false);
      if (isKnown)
        for (const isUp of [true, false]) memory.noteLook(KEY, isUp, `${agent(1)} ${mean.capability} direct`);
      const visits = new HostVisits(prober);
      const visit = (slot: number) => visits.visit({ key: KEY, agents: agents as never }, slot, () => true);
      await visit(FIRST_SLOT);
      expect(seen.filter(isLook), "no params").to.have.length(0);
      await visit(FIRST_SLOT + 1);
      expect(seen.filter(isLook), `known: ${isKnown}`).to.have.length(1);
    }
  });

  it("comes back to the good listing if its schema could not be read once and the other listing fails", async () => {
    const said = (status: number) => [0, { ...OK, status }] as [number, Answer];
    // The first slot: the schema, and a hire without its params. The second slot: the other listing.
    const { it: prober, memory, asked } = proberWith([said(503), said(400), said(500), said(404)]);
    const target = { agent: agent(1), paymentMode: "direct", maxLatencyMs: 1_000 };
    const good = { ...target, endpoint: "https://a.example/good", capability: "custom.x" };
    const others = ["compute.statistics.mean", "embed.text"].map((capability) => {
      return { ...target, endpoint: "https://a.example/other", capability };
    });
    const agents = new Map([[agent(1), [good, ...others]]]);
    memory.noteServed(KEY, agent(1), dayOf(FIRST_SLOT));
    memory.noteRobots(KEY, dayOf(FIRST_SLOT), false);
    memory.noteLook(KEY, true, `${agent(1)} custom.x direct`);
    const visits = new HostVisits(prober);
    for (const slot of [0, 1, 2])
      await visits.visit({ key: KEY, agents: agents as never }, FIRST_SLOT + slot, () => true);
    const used = asked.map(({ url }) => new URL(url).pathname);
    const ofGood = ["/good/capabilities/custom.x/schema", "/good/hire"];
    expect(used).to.deep.equal([...ofGood, "/other/hire", ...ofGood]);
  });

  it("asks for the next agent if no params fit the schema of an agent's listing", async () => {
    const input = {
      type: "object",
      required: ["a"],
      properties: { a: { type: "string", pattern: "^x{3}7$" } },
    };
    const schema = { ...OK, text: JSON.stringify({ input, output: {} }) };
    const { it: prober, memory, seen } = proberWith([[0, schema]]);
    const target = { endpoint: "https://a.example", capability: "custom.x", maxLatencyMs: 1_000 };
    const mean = { ...target, capability: "compute.statistics.mean" };
    const agents = new Map([1, 2].map((n) => [agent(n), [n === 1 ? target : mean]]));
    memory.noteRobots(KEY, dayOf(FIRST_SLOT), false);
    const visits = new HostVisits(prober);
    for (const slot of [FIRST_SLOT + 284, FIRST_SLOT + 286])
      await visits.visit({ key: KEY, agents: agents as never }, slot, () => true);
    expect(seen.flatMap((it) => (it.what === "unserved" ? [it.agent] : []))).to.deep.equal([agent(2)]);
  });
});
