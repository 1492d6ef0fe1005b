import { expect } from "chai";
import fc from "fast-check";
import { apply } from "tallystick-derive/apply";
import { neededOverlap, sharesAtLeast, tokensOf } from "tallystick-derive/fingerprint/tokens";
import { allItems } from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import type { Row } from "tallystick-derive/tables";
import { EventLog, wallet } from "./eventLog.ts";

const template = ["text.translate", "code.review", "chart.generate"];

/**
 * Publishes the template's capabilities for an agent that has its own host. The agent has 13 tokens, and
 * shares 12 of them with the other agents.
 */
function listTemplate(log: EventLog, n: number, capabilities = template): void {
  for (const capability of capabilities) {
    log.after(1, 300).listing(wallet(n), capability, { endpoint: `https://seller-${n}.example/v1` });
  }
}

async function clusterSizes(log: EventLog): Promise<number[]> {
  const { clusters } = await log.derive();
  return Object.values(clusters)
    .filter((it) => it.kind === "fingerprint" && it.merged_into === null)
    .map((it) => it.size);
}

describe("listing fingerprint", () => {
  it("needs a cosine of 0.92: 12 of 13 tokens are enough, 11 of 12 are not", () => {
    const similarity = { numerator: 23, denominator: 25 };
    expect(neededOverlap(13, 13, similarity)).to.equal(12);
    expect(neededOverlap(12, 12, similarity)).to.equal(12);
    expect(neededOverlap(25, 25, similarity), "exactly 0.92").to.equal(23);
  });

  it("is compared token by token: two sets share enough exactly when their intersection is large enough", () => {
    // Tokens of which one is the beginning of another, and one with a character beyond 16 bits.
    const token = fc.constantFrom("a", "ab", "a|b", "abc", "b", "c|x", "c|x.y", "\u{10ffff}", "\uffff", "z");
    const set = fc.uniqueArray(token, { minLength: 1 }).map((them) => them.sort());
    fc.assert(
      fc.property(set, set, fc.nat(11), (own, other, needed) => {
        const shared = other.filter((it) => own.includes(it)).length;
        expect(sharesAtLeast(needed, own, other.join("\n"), other.length)).to.equal(shared >= needed);
      }),
      { numRuns: 2_000 },
    );
  });

  it("needs the smallest overlap whose cosine is high enough, exactly", () => {
    const size = fc.integer({ min: 1, max: 5_000 });
    const part = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 1e15 }));
    fc.assert(
      fc.property(size, size, part, part, (a, b, one, other) => {
        const similarity = { numerator: Math.min(one, other), denominator: Math.max(one, other) };
        const isEnough = (overlap: number) =>
          (BigInt(similarity.denominator) * BigInt(overlap)) ** 2n >=
          BigInt(similarity.numerator) ** 2n * BigInt(a) * BigInt(b);
        const needed = neededOverlap(a, b, similarity);
        expect([isEnough(needed - 1), isEnough(needed)]).to.deep.equal([false, true]);
      }),
      {
        examples: [
          [13, 13, 23, 25],
          [25, 25, 23, 25],
          [4, 9, 1, 1],
          [4, 9, 1, 2],
        ],
      },
    );
  });

  it("counts the tokens that two sets share", () => {
    const own = ["a", "b", "c"];
    for (const [needed, other, enough] of [
      [2, ["a", "b", "c"], true],
      [2, ["a", "b", "x"], true],
      [2, ["a", "x", "y"], false],
      [3, ["a", "b", "x"], false],
      [3, ["a", "b"], false],
      [0, ["x", "y"], true],
    ] as const)
      expect(sharesAtLeast(needed, own, other.join("\n"), other.length), `${needed} of ${other}`).to.equal(
        enough,
      );
  });

  it("has tokens for capability, payment mode and host, and for the magnitudes of price and latency", () => {
    const listing = (more: object) =>
      ({
        ...{ capability: "a.one", priceUsdc: "0.50", maxLatencyMs: 1000, paymentMode: "direct" },
        ...{ endpoint: "https://one.example:8443/x", ...more },
      }) as Row<"listing">;
    expect(tokensOf([listing({})])).to.deep.equal([
      ...["c|a.one", "h|one.example:8443", "l|a.one|10", "m|a.one|direct", "p|a.one|19"],
    ]);
    const magnitudes = (price: string, latency: number) =>
      tokensOf([listing({ priceUsdc: price, maxLatencyMs: latency })]).filter((it) => /^[lp]/.test(it));
    const rows: [price: string, latency: number, bits: number][] = [
      ["0", 0, 0],
      ["0.000001", 1, 1],
      ["0.000002", 2, 2],
      ["0.000003", 3, 2],
      ["0.000004", 4, 3],
      ["0.001023", 1_023, 10],
      ["0.001024", 1_024, 11],
    ];
    for (const [price, latency, bits] of rows)
      expect(magnitudes(price, latency)).to.deep.equal([`l|a.one|${bits}`, `p|a.one|${bits}`]);
  });

  it("keeps a token of 64 characters as it is, and hashes a longer one as UTF-8 text", () => {
    const listing = (capability: string) =>
      ({
        ...{ capability, priceUsdc: "0", maxLatencyMs: 0, paymentMode: "direct" },
        ...{ endpoint: "https://one.example" },
      }) as Row<"listing">;
    const asked: unknown[] = [];
    const sha256Hex = (...call: unknown[]) => {
      asked.push(call);
      return "hashed";
    };
    // "m|", a capability of 55 characters, and "|direct" are 64 characters.
    for (const [length, hashed] of [
      [55, []],
      [56, [[`m|${"a".repeat(56)}|direct`, "utf8"]]],
    ] as const) {
      asked.length = 0;
      const tokens = tokensOf([listing("a".repeat(length))], sha256Hex);
      expect(asked).to.deep.equal(hashed);
      expect(tokens).to.include(hashed.length === 0 ? `m|${"a".repeat(length)}|direct` : "hashed");
    }
  });

  it("changes nothing when a listing changes and its agent looks the same", async () => {
    const log = new EventLog();
    listTemplate(log, 1);
    const rows = async () => {
      const { store } = await log.derive();
      return [store.rows("state").get("state")?.tokenSets, [...store.rows("fingerprint").values()]];
    };
    const before = await rows();
    log.after(1).listing(wallet(1), "text.translate", { endpoint: "https://seller-1.example/v2" });
    expect(await rows()).to.deep.equal(before);
  });

  it("keeps the tokens of a class until its last member leaves, and each required similarity once", async () => {
    const operator = wallet(900);
    const log = new EventLog({ operator });
    const list = (n: number, retired = false) =>
      log.after(1).listing(wallet(n), "text.translate", { endpoint: "https://one.example", retired });
    const rows = async () => [...(await log.derive()).store.rows("fingerprint").values()];
    list(1);
    list(2);
    list(1, true);
    const [own] = await rows();
    expect(own).to.include({ members: 1 }).and.property("tokens").not.equal("");
    list(2, true);
    expect(await rows()).to.deep.equal([{ ...own, members: 0, around: 0, core: false, tokens: "" }]);
    list(3);
    expect(await rows()).to.deep.equal([{ ...own, appeared: 2 }]);
    const similarities = async () => allItems((await log.derive()).store, "similarities");
    expect(await similarities()).to.deep.equal(["23/25"]);
    const half = { numerator: 1, denominator: 2 };
    log.record("params", operator, { version: 2, operator, fingerprintSimilarity: half });
    for (const n of [4, 5]) log.after(1).listing(wallet(n), "code.review");
    expect(await similarities()).to.deep.equal(["23/25", "1/2"]);
  });

  it("gives the place of a member that leaves a class to the last member", async () => {
    const log = new EventLog();
    const list = (n: number, retired = false) =>
      log.after(1).listing(wallet(n), "text.translate", { endpoint: "https://one.example", retired });
    for (const n of [1, 2, 3]) list(n);
    list(1, true);
    const { store } = await log.derive();
    const [own] = store.rows("fingerprint").values();
    const places = [1, 2, 3].map((n) => {
      const agent = store.rows("agent").get(wallet(n));
      return [agent?.fingerprint, agent?.fingerprintPlace];
    });
    expect(places).to.deep.equal([
      [null, 0],
      [own?.id, 1],
      [own?.id, 0],
    ]);
    expect(own).to.include({ members: 2, around: 2 });
    for (const n of [2, 3]) list(n, true);
    expect((await log.derive()).store.rows("fingerprint").get(own?.id ?? "")).to.include({
      members: 0,
      around: 0,
    });
  });

  it("has tokens of at most 64 characters, however long a mode, a capability and a host are, and finds look-alikes by them", async () => {
    const log = new EventLog();
    const capability = `text.${"a".repeat(123)}`;
    const list = (n: number, end: string) => {
      for (const it of template)
        log.listing(wallet(n), it === "chart.generate" ? capability : it, {
          endpoint: `https://${`${"z".repeat(60)}.`.repeat(4)}${n}.example`,
          payment_mode: `custom_escrow:https://${"a".repeat(2_000)}${end}`,
        });
    };
    for (const n of [1, 2, 3, 4]) list(n, "x");
    for (const n of [5, 6, 7, 8]) list(n, `${n}`);
    const { store, clusters } = await log.derive();
    expect(Object.values(clusters).map(({ members }) => members)).to.deep.equal([[1, 2, 3, 4].map(wallet)]);
    const tokens = [...store.rows("fingerprint").values()].flatMap((it) => it.tokens.split("\n"));
    expect(Math.max(...tokens.map(({ length }) => length))).to.equal(64);
    for (const id of store.rows("list").keys())
      if (id.startsWith("classes/")) expect(id.length, id).to.be.below(100);
  });

  it("compares sets with as few or as many tokens as can be similar, whichever agent comes first", async () => {
    const capabilities = ["a.one", "a.two", "a.three", "a.four"];
    // Five tokens of twenty: a cosine of exactly one half. Five tokens of 21 are less.
    for (const modes of [["direct"], ["custom_escrow:https://x.example", "direct"]])
      for (const isSmallFirst of [true, false]) {
        const log = new EventLog({
          clusterOthers: 1,
          fingerprintSimilarity: { numerator: 1, denominator: 2 },
        });
        const list = (n: number, capability: string, payment_mode = "direct") =>
          log.after(1, 300).listing(wallet(n), capability, {
            ...{ payment_mode, endpoint: `https://${capability}.example` },
          });
        const small = () => list(1, "a.one");
        const large = () => {
          for (const capability of capabilities.slice(1)) list(2, capability);
          for (const mode of modes) list(2, "a.one", mode);
        };
        if (isSmallFirst) small();
        large();
        if (!isSmallFirst) small();
        expect((await clusterSizes(log)).length, `${modes}, ${isSmallFirst}`).to.equal(2 - modes.length);
      }
  });

  it("is compared in a short time even if the required similarity is almost zero, and sets of all sizes can be similar", async () => {
    const log = new EventLog({
      clusterOthers: 1,
      fingerprintSimilarity: { numerator: 1, denominator: 1e15 },
    });
    listTemplate(log, 1);
    listTemplate(log, 2, ["text.translate"]);
    expect(await clusterSizes(log)).to.deep.equal([2]);
  });

  it("clusters four renamed copies of a template, and not three", async () => {
    for (const [count, sizes] of [
      [3, []],
      [4, [4]],
      [7, [7]],
    ] as const) {
      const log = new EventLog();
      for (let n = 1; n <= count; n++) listTemplate(log, n);
      expect(await clusterSizes(log), `${count} agents`).to.deep.equal(sizes);
    }
  });

  it("forms no cluster of 200 honest sellers of one capability with different hosts, prices and latencies", async () => {
    const log = new EventLog();
    for (let n = 1; n <= 200; n++) {
      log.after(1, 300).listing(wallet(n), "text.translate", {
        endpoint: `https://seller-${n}.example/v1`,
        price_usdc: `0.${10 + (n % 80)}`,
        max_latency_ms: 200 + 37 * n,
      });
    }
    expect(await clusterSizes(log)).to.deep.equal([]);
  });

  it("makes clusters of its own, apart from shared ownership: a copied listing brings no stranger into a ring", async () => {
    const log = new EventLog();
    const ring = [1, 2, 3, 4];
    for (const n of ring) log.after(1).transfer(wallet(100), wallet(n), 1_000_000);
    for (const n of ring) listTemplate(log, n);
    listTemplate(log, 5);
    const { agents } = await log.derive();
    expect(agents[wallet(1)]?.cluster_size).to.equal(4);
    expect(agents[wallet(5)]?.cluster_size).to.equal(5);
    expect(agents[wallet(1)]?.cluster_id).to.not.equal(agents[wallet(5)]?.cluster_id);
    log.hire(wallet(1), wallet(2), { amount: 1_000 });
    log.hire(wallet(1), wallet(5), { amount: 1_000 });
    expect(
      (await log.derive()).agents[wallet(1)]?.last_30d_hire_count,
      "two hires, each inside a cluster of five",
    ).to.equal(0.4);
  });

  it("is checked again when a listing changes, and ignores a retired listing", async () => {
    const log = new EventLog();
    for (let n = 1; n <= 3; n++) listTemplate(log, n);
    listTemplate(log, 4, template.slice(0, 2));
    expect(await clusterSizes(log)).to.deep.equal([]);
    listTemplate(log, 4, template.slice(2));
    expect(await clusterSizes(log)).to.deep.equal([4]);
    log.listing(wallet(9), "text.translate", { retired: true });
    const { agents } = await log.derive();
    expect(agents[wallet(9)]?.signals_tripped).to.deep.equal([]);
  });

  it("does not read what agents left behind: a listing costs the same after many changes of look-alikes", () => {
    const readsOfNewcomers = (changes: number) => {
      const log = new EventLog();
      for (let n = 1; n <= changes; n++) {
        listTemplate(log, n);
        for (const capability of template) log.listing(wallet(n), capability, { retired: true });
      }
      const before = log.events.length;
      for (const n of [1_001, 1_002, 1_003]) listTemplate(log, n);
      const store = new MemoryStore();
      const { get } = store;
      let reads = 0;
      store.get = (table, id) => {
        reads++;
        return get.call(store, table, id) as never;
      };
      for (const [n, event] of log.events.entries()) {
        if (n === before) reads = 0;
        apply(store, parseEvent(JSON.stringify(event)), { trustSignatures: true });
      }
      return reads;
    };
    const reads = readsOfNewcomers(30);
    expect(readsOfNewcomers(200)).to.be.at.most(1.1 * reads);
  });

  it("keeps few rows for an agent that adds one listing after the other", async () => {
    const log = new EventLog();
    for (let n = 0; n < 100; n++) log.listing(wallet(1), `work.kind${n}`);
    const { store } = await log.derive();
    expect([...store.rows("list").keys()].filter((id) => id.startsWith("classes/")).length).to.equal(100);
  });

  it("accepts a hundred listings of an agent, live or retired, and no further new listing", async () => {
    const log = new EventLog();
    for (let n = 0; n < 100; n++) log.listing(wallet(1), `work.kind${n}`, { retired: n === 0 });
    const refused = log.listing(wallet(1), "work.more");
    log.listing(wallet(1), "work.kind0", { price_usdc: "2.00" });
    const { store } = await log.derive();
    expect(store.rows("listing").size).to.equal(100);
    expect(store.rows("agent").get(wallet(1))?.liveListings).to.equal(100);
    const reasons = [...store.rows("record").values()].filter((it) => it.status === "invalid");
    expect(reasons.map(({ hash, reason }) => ({ hash, reason }))).to.deep.equal([
      { hash: refused, reason: "the agent has 100 listings, which is the most that one may have" },
    ]);
  });

  for (const { what, agents, hosts, similarity, numRuns } of [
    { what: "", agents: 9, hosts: 2, similarity: { numerator: 23, denominator: 25 }, numRuns: 60 },
    // So many sets of five tokens that most of them are in the lists of their tokens.
    {
      what: " of many sets",
      agents: 24,
      hosts: 6,
      similarity: { numerator: 3, denominator: 5 },
      numRuns: 30,
    },
  ])
    it(`finds the same clusters as a comparison of all pairs${what} after every change`, async () => {
      const change = fc.record({
        agent: fc.integer({ min: 1, max: agents }),
        capability: fc.constantFrom("a.one", "a.two", "a.three", "a.four"),
        price: fc.constantFrom("0.50", "0.50", "0.50", "9.00"),
        host: fc.integer({ min: 1, max: hosts }),
        retired: fc.boolean().map((it) => it),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 10, maxLength: 80 }), async (changes) => {
          const log = new EventLog({ fingerprintSimilarity: similarity });
          let groups: Set<string>[] = [];
          for (const [n, it] of changes.entries()) {
            log.after(1, 300).listing(wallet(it.agent), it.capability, {
              price_usdc: it.price,
              endpoint: `https://host${it.host}.example`,
              retired: it.retired && n % 4 === 0,
              nonce: n,
            });
          }
          // Applies the definition to the live listings after each change.
          for (let upTo = 1; upTo <= log.events.length; upTo++) {
            const { store } = await log.derive(upTo);
            groups = mergeStars(groups, store, similarity);
          }
          const { clusters } = await log.derive();
          const found = Object.values(clusters)
            .filter((it) => it.merged_into === null)
            .map((it) => [...it.members].sort());
          expect(found.sort()).to.deep.equal(groups.map((it) => [...it].sort()).sort());
        }),
        { numRuns },
      );
    });
});

/**
 * For every agent that resembles at least three others, merges this agent and these others into one group.
 */
function mergeStars(
  groups: Set<string>[],
  store: MemoryStore,
  { numerator, denominator }: { numerator: number; denominator: number },
): Set<string>[] {
  const live = [...store.rows("listing").values()].filter((it) => it.live);
  const sets = [...Map.groupBy(live, (it) => it.agent)].map(([agent, its]) => ({
    agent,
    tokens: tokensOf(its),
  }));
  let merged = groups;
  for (const a of sets) {
    const alike = sets.filter((b) => {
      const shared = a.tokens.filter((token) => b.tokens.includes(token)).length;
      const product = a.tokens.length * b.tokens.length;
      return b !== a && denominator ** 2 * shared ** 2 >= numerator ** 2 * product;
    });
    if (alike.length < 3) continue;
    const star = new Set([a, ...alike].map((it) => it.agent));
    const touching = merged.filter((group) => [...group].some((it) => star.has(it)));
    merged = [
      ...merged.filter((group) => !touching.includes(group)),
      new Set([...touching, star].flatMap((it) => [...it])),
    ];
  }
  return merged;
}
