import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { expect } from "chai";
import fc from "fast-check";
import type { CapabilityPrice } from "tallystick-derive/fieldValues";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { formatRational, rational } from "tallystick-derive/rational";
import { leafText, reputationOf } from "tallystick-derive/reputationOf";
import { type Row, type TableName, tables } from "tallystick-derive/tables";
import { DAY, EventLog, wallet } from "./eventLog.ts";
import { auditSteps } from "./oracle/auditActions.ts";
import { auditLog } from "./oracle/auditLog.ts";
import { identityLog } from "./oracle/identityLog.ts";
import { slaLog, slaSteps } from "./oracle/slaLog.ts";
import { stewardLog } from "./oracle/stewardLog.ts";

const sha256 = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();

function pricesOf(store: MemoryStore, agent: string) {
  return [...store.rows("capability").values()].filter((it) => it.agent === agent);
}

/** The text of an agent's leaf, directly from the definition: all exact fields except the present cluster, by RFC 8785. */
function canonicalLeaf(agent: Row<"agent">, prices: CapabilityPrice[]): string | undefined {
  const { cluster_id, cluster_size, ...fields } = reputationOf(
    { ...agent, privateListings: 0 },
    null,
    prices,
  );
  const first_clusters = [agent.ownershipCluster, agent.fingerprintCluster];
  return canonicalize([agent.id, { ...fields, first_clusters }]);
}

const fraction = fc
  .tuple(fc.nat(10 ** 9), fc.integer({ min: 1, max: 10 ** 6 }))
  .map(([n, d]) => formatRational(rational(BigInt(n), BigInt(d))));
const count = fc.oneof(fc.nat(20), fc.maxSafeNat());
const amount = fc.bigInt({ min: 0n, max: 1n << 60n });
const optionalCluster = fc.option(fc.stringMatching(/^clst_[a-z2-7]{26}$/));

/** Any row of an agent. Each column from which a field of the leaf is computed can have any of its values. */
const anyAgent = fc
  .record({
    weights: fc.record({
      windowWeight: fraction,
      ratedWeight: fraction,
      successWeight: fraction,
      escrowWeight: fraction,
      refundedWeight: fraction,
      auditDisputedWeight: fraction,
      dayVolume: fraction,
      avgStars: fc.option(fraction),
    }),
    counts: fc.record({
      registeredBlock: count,
      registeredTime: count,
      freeHires: count,
      windowHires: count,
      latencies: count,
      latencySum: amount,
      latencyP50: fc.option(count),
      latencyP95: fc.option(count),
      latencyP99: fc.option(count),
      totalRatings: count,
      distinctBuyers: count,
      bought: count,
      escrowBought: count,
      silentTimeouts: count,
      refundsAfterDelivery: count,
      auditsPassed: count,
      auditsRolledBack: count,
      auditsEligible: count,
      auditsDrawn: count,
      auditsUndisclosed: count,
      windowAuditable: count,
      falseRefunds: count,
      independentBuyers: count,
      establishedBuyers: count,
      ratingFamilies: count,
      familyShares: amount,
      kept: amount,
      contestingFamilies: count,
      refundsContested: count,
      feesPaid: amount,
      windowDirect: fc.nat(2 ** 52),
      unreceipted: fc.nat(2 ** 52),
      unreceiptedValue: amount,
      unanswered: count,
      trustTier: fc.nat(2),
    }),
    texts: fc.record({
      claimStatus: fc.constantFrom("unclaimed", "verified", "revoked"),
      signalsTripped: fc
        .subarray(["deploy_batch", "funding_origin", "listing_fingerprint"])
        .map((it) => it.join(",")),
      ownershipCluster: optionalCluster,
      fingerprintCluster: optionalCluster,
    }),
  })
  .map(({ weights, counts, texts }) => {
    const blank = Object.fromEntries(Object.keys(tables.agent).map((column) => [column, null]));
    return { ...blank, id: wallet(1), ...weights, ...counts, ...texts } as unknown as Row<"agent">;
  });
const anyPrices = fc.array(
  fc.record({
    capability: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,5}(\.[a-z0-9][a-z0-9_-]{0,5}){1,3}$/),
    medianPrice: fc.option(fraction),
  }),
  { maxLength: 5 },
);

const plain = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, it]) => [name, typeof it === "bigint" ? String(it) : it]),
  );

/** The leaves of audits: every published row, with all its columns. */
function auditLeaves(store: MemoryStore): (string | undefined)[][] {
  const asked = [...store.rows("auditAssignment").values()];
  const drawn = [...store.rows("audit").values()].filter(
    (it) => it.drawnBlock !== null || it.closedTime !== null,
  );
  const names = ["auditor", "auditMode", "auditModeChange", "auditOperator"] as const;
  const others = ["auditPeriod", "auditorError", "canary", "canaryList"] as const;
  return [
    ...drawn.map((it) => {
      const words = asked.filter(({ audit }) => audit === it.id).map(plain);
      return [`audit ${it.id}`, canonicalize(["audit", plain(it), words])];
    }),
    ...[...names, ...others].flatMap((table) =>
      [...store.rows(table).values()].map((it) => [`${table} ${it.id}`, canonicalize([table, plain(it)])]),
    ),
  ];
}

/** The root directly from its definition, over all rows at once. */
function rootOf(store: MemoryStore): Buffer {
  return treeOf([
    ...[...store.rows("agent").values()].map((it) => [it.id, canonicalLeaf(it, pricesOf(store, it.id))]),
    ...[...store.rows("cluster").values()].map((it) => [
      it.id,
      canonicalize([it.id, it.mergedInto, it.size]),
    ]),
    ...auditLeaves(store),
  ]);
}

const OF_SCORES = [
  ...["algorithmScore", "computedBlock", "computedTime", "counted", "decayedSuccess", "decayedUptime"],
  "difficultySuccess",
  ...["denied", "endorsementCount", "endorsements", "endorserTrust", "failed", "freshness", "guarantees"],
  ...["id", "leftOut", "ownTrust", "score", "scoredAttestation", "slaLeft", "slotSums", "slots", "succeeded"],
  ...["successRate", "testCoverage", "tier", "uniqueEndorsers", "uptime"],
];

const only = (row: object, columns: readonly string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => columns.includes(name)));
const but = (row: object, ...columns: string[]) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)));

/** The tree hash exactly as in RFC 6962 §2.1. */
function merkleOf(leaves: Buffer[]): Buffer {
  if (leaves.length === 1) return leaves[0] as Buffer;
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return sha256(Buffer.of(1), merkleOf(leaves.slice(0, half)), merkleOf(leaves.slice(half)));
}

/** The root of trust scores and SLAs: a leaf for each slot of the hour, over the scores computed then, and the rows of SLAs. */
function stewardRootOf(store: MemoryStore): Buffer {
  const rows = <T extends TableName>(table: T): Row<T>[] => [...store.rows(table).values()] as Row<T>[];
  const scores = rows("steward").filter(({ computedTime }) => computedTime !== null);
  const slots = Map.groupBy(scores, ({ id }) => Number(BigInt(id) % 12n));
  const leaf = (table: string, row: { id: string; [column: string]: unknown }) => [
    `${table} ${row.id}`,
    canonicalize([table, plain(row)]),
  ];
  return treeOf([
    ...rows("stewardSlot").map((row) => {
      // Each group has its rows in the order of the table.
      const texts = (slots.get(Number(row.id)) ?? []).map((it) =>
        canonicalize(["steward", only(it, OF_SCORES)]),
      );
      const root = merkleOf(texts.map((it) => sha256(Buffer.of(0), Buffer.from(it ?? ""))));
      return leaf("stewardSlot", { ...row, agents: texts.length, root: root.toString("hex") });
    }),
    ...rows("sla").map((row) => leaf("sla", but(row, "status") as typeof row)),
    ...rows("guarantee").map((row) =>
      leaf(
        "guarantee",
        but(row, "current", "status", "closes", "closedDay", "daysUntilBreach") as typeof row,
      ),
    ),
    ...rows("breach").map((row) => leaf("breach", but(row, "checkedDay") as typeof row)),
    ...(["breachStep", "slaMonitoring", "slaClaim", "slaPayment"] as const).flatMap((table) =>
      rows(table).map((row) => leaf(table, row)),
    ),
  ]);
}

function treeOf(all: (string | undefined)[][]): Buffer {
  const leaves = all.map(([key = "", json = ""]) => ({
    key: sha256(Buffer.from(key)),
    leaf: sha256(Buffer.from(json)),
  }));

  const node = (within: typeof leaves, depth: number): Buffer => {
    const children = Array.from({ length: 16 }, (_, nibble) => {
      const below = within.filter(
        (it) => Number.parseInt(it.key.toString("hex").charAt(depth), 16) === nibble,
      );
      if (below.length === 0) return Buffer.alloc(32);
      const [only] = below;
      return below.length === 1 && only ? sha256(Buffer.of(0), only.key, only.leaf) : node(below, depth + 1);
    });
    return sha256(Buffer.of(1), ...children);
  };
  return node(leaves, 0);
}

describe("the digest", () => {
  it("has leaves in RFC 8785 form for any figures of an agent", () => {
    fc.assert(
      fc.property(anyAgent, anyPrices, (agent, prices) => {
        expect(leafText(agent, prices)).to.equal(canonicalLeaf(agent, prices));
      }),
      { numRuns: 500 },
    );
  });

  it("is the root over all agents and clusters, in whatever order they came", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            seller: fc.integer({ min: 1, max: 40 }),
            buyer: fc.integer({ min: 1, max: 40 }),
            tick: fc.boolean(),
          }),
          { maxLength: 60 },
        ),
        async (steps) => {
          const log = new EventLog();
          for (const { seller, buyer, tick } of steps) {
            log.after(60).transfer(wallet(100), wallet(buyer), 1_000_000);
            log.hire(wallet(seller), wallet(buyer));
            if (tick) log.after(DAY / 3).tick();
          }
          log.tick();
          const { digest, store, asOf } = await log.derive();
          const root = rootOf(store).toString("hex");
          const scores = stewardRootOf(store).toString("hex");
          const expected = sha256(Buffer.from(canonicalize([root, scores, 1, asOf.block, asOf.time]) ?? ""));
          expect(digest).to.equal(`0x${expected.toString("hex")}`);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("is the root over all audits too, however they end", async () => {
    await fc.assert(
      fc.asyncProperty(auditSteps, async (steps) => {
        const { store } = await (await auditLog(steps)).derive();
        const last = [...store.rows("digest").values()].at(-1);
        expect(last?.root).to.equal(rootOf(store).toString("hex"));
      }),
      { numRuns: Number(process.env.AUDIT_RUNS ?? 15) },
    );
  }).timeout(0);

  it("is the root over trust scores and SLAs too, with any values", async () => {
    // By default the test plays the same logs each time, and some of these logs have breaches.
    const asked = process.env.STEWARD_RUNS;
    const runs = asked === undefined ? { numRuns: 12, seed: 4 } : { numRuns: Number(asked) };
    let breaches = 0;
    await fc.assert(
      fc.asyncProperty(slaSteps, async (steps) => {
        const { store } = await (await slaLog(steps)).derive();
        const last = [...store.rows("digest").values()].at(-1);
        expect(last?.stewardRoot).to.equal(stewardRootOf(store).toString("hex"));
        breaches += store.rows("breach").size;
      }),
      runs,
    );
    await fc.assert(
      fc.asyncProperty(stewardLog, async (log) => {
        const { store } = await log.derive();
        const last = [...store.rows("digest").values()].at(-1);
        expect(last?.stewardRoot).to.equal(stewardRootOf(store).toString("hex"));
      }),
      runs,
    );
    expect(breaches).to.be.greaterThan(0);
  }).timeout(0);

  it("has a third root if the log names registries, over everything that is derived about identities", async () => {
    await fc.assert(
      fc.asyncProperty(identityLog, async (log) => {
        const { store } = await log.derive();
        const last = [...store.rows("digest").values()].at(-1);
        const names = ["registry", "identity", "identityLink", "feedback", "feedbackResponse"] as const;
        const leaves = names.flatMap((table) =>
          [...store.rows(table).values()].map((it) => [
            `${table} ${it.id}`,
            canonicalize([table, plain(it)]),
          ]),
        );
        const roots = [rootOf(store), stewardRootOf(store), treeOf(leaves)].map((it) => it.toString("hex"));
        expect(last?.identityRoot).to.equal(roots[2]);
        const text = canonicalize([...roots, last?.paramsVersion, last?.block, last?.time]) ?? "";
        expect(last?.digest).to.equal(`0x${sha256(Buffer.from(text)).toString("hex")}`);
      }),
      { numRuns: 15 },
    );
  });

  it("is stored for each tick", async () => {
    const log = new EventLog();
    log.tick().hire(wallet(1), wallet(2));
    log.tick().tick();
    const { store } = await log.derive();
    const digests = [...store.rows("digest").values()];
    expect(digests).to.have.length(3);
    expect(digests[0]?.root).to.not.equal(digests[1]?.root);
    expect(digests[1]?.root, "nothing happened in between").to.equal(digests[2]?.root);
    expect(digests[1]?.digest).to.not.equal(digests[2]?.digest);
  });
});
