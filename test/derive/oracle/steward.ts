import type { DeriveEvent, RecordEvent } from "tallystick-derive/events";
import { InvalidInputError } from "tallystick-protocol/errors";
import { parseAttestation } from "tallystick-protocol/records/attestation";
import { parseEndorsement } from "tallystick-protocol/records/endorsement";
import { parseTelemetry } from "tallystick-protocol/records/telemetry";
import { parseUptime } from "tallystick-protocol/records/uptime";
import type { Facts, Hire } from "./facts.ts";
import { components, fingerprintGroups, ownershipGroups, sharedSize } from "./groups.ts";
import { oracle } from "./oracle.ts";
import { type ExpectedSla, SlaBook } from "./sla.ts";

/** The compared values of an agent's row. */
export type ExpectedSteward = {
  computedTime: number;
  score: number;
  tier: number;
  ownTrust: number;
  factors: number[];
  slotSums: string;
  denied: number;
  difficultySuccess: number | null;
  counts: number[];
  counted: string[];
  leftOut: string[];
  tests: number[];
};

type Seen = {
  n: number;
  hour: number;
  prober: string;
  host: string;
  looked: boolean[];
  down: boolean[];
  wasUp: boolean;
  /** Whether the host was known as the host of an agent with sales. */
  isSellers: boolean;
};
type Notes = {
  seen: Seen[];
  served: { hour: number; prober: string; agent: string; host: string; isSellers: boolean }[];
  claims: { agent: string; hour: number; host: string; up: boolean[] }[];
  attested: { agent: string; ranAt: number; runs: ReturnType<typeof parseAttestation>["runs"] }[];
  endorsed: {
    n: number;
    endorser: string;
    agent: string;
    capability: string;
    issuedAt: number;
    time: number;
    revoked: boolean;
  }[];
  heard: Map<string, boolean>;
  /** The weight of each hire by the difficulty of its capability, in units of 10⁻⁹. */
  difficulty: Map<Hire, bigint>;
  rows: Map<string, ExpectedSteward>;
  before: number;
};

const HOUR = 3600;
const DAY = 24 * HOUR;
const bits = (mask: number) =>
  Array.from({ length: 12 }, (_, slot) => Math.floor(mask / 2 ** slot) % 2 === 1);

/**
 * A second computation of trust scores: each from its definition and from all records, at every tick at which an agent
 * is due.
 */
export function stewardOracle(log: DeriveEvent[]): { [agent: string]: ExpectedSteward } {
  return oraclesOf(log).scores;
}

/** The same, and the results of SLAs. */
export function oraclesOf(log: DeriveEvent[]): {
  scores: { [agent: string]: ExpectedSteward };
  slas: { [agent: string]: ExpectedSla };
} {
  let book: SlaBook | undefined;
  const notes: Notes = {
    seen: [],
    served: [],
    claims: [],
    attested: [],
    endorsed: [],
    heard: new Map(),
    difficulty: new Map(),
    rows: new Map(),
    before: 0,
  };
  oracle(log, (facts, event) => {
    book ??= new SlaBook(facts, (hire) => isExcused(notes, hire));
    if (event.kind === "record") {
      book.read(event);
      try {
        note(notes, facts, event);
      } catch (error) {
        if (!(error instanceof InvalidInputError)) throw error;
      }
    }
    for (const it of facts.hires) {
      if (it.capability === null || notes.difficulty.has(it)) continue;
      const published = facts.params.steward.difficulty[it.capability] ?? "1";
      notes.difficulty.set(it, BigInt(Math.round(Number(published) * 1e9)));
    }
    if (event.kind === "tick") {
      book.tick(event.time);
      compute(notes, facts, event.time, book);
      notes.before = event.time;
    }
  });
  return { scores: Object.fromEntries(notes.rows), slas: book?.expected() ?? {} };
}

function note(notes: Notes, facts: Facts, event: RecordEvent): void {
  const { signer, time } = event;
  const isAgent = (address: string) => facts.agents.has(address);
  switch (event.type) {
    case "attestation": {
      const { agent_id: agent, ran_at: ranAt, runs } = parseAttestation(event.body);
      const mayAttest = signer === agent || facts.params.steward.attestors.some((it) => it === signer);
      const isNewest = notes.attested.every((it) => it.agent !== agent || it.ranAt < ranAt);
      if (mayAttest && isAgent(agent) && ranAt <= time && isNewest)
        notes.attested.push({ agent, ranAt, runs });
      return;
    }
    case "endorsement": {
      const body = parseEndorsement(event.body);
      const [endorser, agent, capability] = [body.endorser, body.agent_id, body.capability ?? "*"] as const;
      const older = notes.endorsed.filter(
        (it) => it.endorser === endorser && it.agent === agent && it.capability === capability,
      );
      if (signer !== endorser || endorser === agent || !isAgent(endorser) || !isAgent(agent)) return;
      if (body.issued_at > time || older.some((it) => it.issuedAt >= body.issued_at)) return;
      const revoked = body.revoked === true;
      if (!revoked && body.agent_signature === undefined) return;
      notes.endorsed.push({
        n: facts.now,
        endorser,
        agent,
        capability,
        issuedAt: body.issued_at,
        time,
        revoked,
      });
      return;
    }
    case "telemetry": {
      const { receipt, failure } = parseTelemetry(event.body);
      const known = facts.receipts.find((it) => it.hash === receipt);
      if (known?.buyer === signer && !notes.heard.has(receipt))
        notes.heard.set(receipt, failure === "client_error");
      return;
    }
    case "uptime": {
      const { hour, hosts, served } = parseUptime(event.body);
      if (time < (hour + 1) * HOUR || time > (hour + 3) * HOUR) return;
      if (!facts.params.steward.probers.some((it) => it === signer)) {
        if (!isAgent(signer)) return;
        for (const host of Object.keys(hosts).sort()) {
          const [looked = 0, down = 0] = hosts[host] ?? [];
          if (notes.claims.some((it) => it.agent === signer && it.hour === hour && it.host === host))
            continue;
          const up = bits(looked).map((saw, slot) => saw && !bits(down)[slot]);
          notes.claims.push({ agent: signer, hour, host, up });
        }
        return;
      }
      const before = notes.seen.filter((it) => it.hour === hour - 1 && it.prober === signer);
      const wasAway = away(before);
      for (const [host, [looked = 0, down = 0]] of Object.entries(hosts)) {
        if (notes.seen.some((it) => it.hour === hour && it.prober === signer && it.host === host)) continue;
        const last = before.find((it) => it.host === host);
        const there = last?.looked.flatMap((saw, slot) => (saw && !wasAway[slot] ? [last.down[slot]] : []));
        const wasUp =
          last !== undefined && there !== undefined && last.looked.includes(true)
            ? there.length === 0
              ? last.wasUp
              : !there.includes(true)
            : false;
        notes.seen.push({
          n: facts.now,
          hour,
          prober: signer,
          host,
          looked: bits(looked),
          down: bits(down),
          wasUp,
          isSellers: notes.served.some(
            (it) => it.isSellers && it.prober === signer && it.host === host && hour < it.hour + 168,
          ),
        });
      }
      for (const [agent, all] of Object.entries(served)) {
        const hasSold = facts.hires.some(({ seller, isCanary }) => seller === agent && !isCanary);
        for (const host of all) {
          if (!isAgent(agent)) continue;
          const isSellers = hasSold && all.every((other) => host <= other);
          notes.served.push({ hour, prober: signer, agent, host, isSellers });
        }
      }
    }
  }
}

/** The slots of an hour in which a prober was itself offline, by its own reports. */
function away(reports: Seen[]): boolean[] {
  return Array.from({ length: 12 }, (_, slot) => {
    const known = reports.filter((it) => it.wasUp && it.isSellers && it.looked[slot]);
    return known.length >= 20 && known.filter((it) => it.down[slot]).length > known.length / 2;
  });
}

type Slot = { day: number; isDown: boolean; isDenied: boolean };

/** An agent's slots with data in all closed hours, in order. */
function slotsOf(notes: Notes, agent: string, time: number): Slot[] {
  const hours = [...new Set(notes.seen.map((it) => it.hour))].sort((a, b) => a - b);
  return hours.flatMap((hour) => {
    if ((hour + 3) * HOUR >= time) return [];
    const ofHour = notes.seen.filter((it) => it.hour === hour);
    const gone = new Map(
      [...new Set(ofHour.map((it) => it.prober))].map((prober) => [
        prober,
        away(ofHour.filter((it) => it.prober === prober)),
      ]),
    );
    const servedNow = notes.served.filter(
      (it) => it.agent === agent && it.hour <= hour && hour < it.hour + 168,
    );
    const hosts = [...new Set(servedNow.map((it) => it.host))].filter((host) => {
      const lookers = ofHour.filter(
        (it) => it.host === host && it.looked.some((saw, slot) => saw && !gone.get(it.prober)?.[slot]),
      );
      const agree = lookers.filter((looker) =>
        servedNow.some((it) => it.host === host && it.prober === looker.prober),
      );
      return agree.length > lookers.length / 2;
    });
    return Array.from({ length: 12 }, (_, slot) => {
      const states = hosts.flatMap((host) => {
        const lookers = ofHour.filter(
          (it) => it.host === host && it.looked[slot] && !gone.get(it.prober)?.[slot],
        );
        if (lookers.length === 0) return [];
        const isDown = lookers.filter((it) => it.down[slot]).length > lookers.length / 2;
        const claim = notes.claims.find((it) => it.agent === agent && it.hour === hour && it.host === host);
        return [{ isDown, isDenied: isDown && claim?.up[slot] === true }];
      });
      return { states, day: Math.floor(hour / 24) };
    }).flatMap(({ states, day }) =>
      states.length === 0
        ? []
        : [{ day, isDown: states.some((it) => it.isDown), isDenied: states.some((it) => it.isDenied) }],
    );
  });
}

/** The slots that count as downtime: at least three failed slots in a row. */
function downtime(all: Slot[]): Slot[] {
  return all.filter((it, at) => {
    if (!it.isDown) return false;
    let [first, last] = [at, at];
    while (all[first - 1]?.isDown) first--;
    while (all[last + 1]?.isDown) last++;
    return last - first >= 2;
  });
}

const NANO = 1_000_000_000n;
const rounded = (n: bigint, d: bigint) => Number((n * NANO * 2n + d) / (d * 2n));

function compute(notes: Notes, facts: Facts, time: number, book: SlaBook): void {
  const known = new Set([
    ...facts.hires.map((it) => it.seller),
    ...notes.attested.map((it) => it.agent),
    ...notes.endorsed.map((it) => it.agent),
    ...notes.served.map((it) => it.agent),
    ...notes.claims.map((it) => it.agent),
    ...book.slas.keys(),
  ]);
  const due = [...known].filter((agent) => {
    for (let slot = Math.floor(notes.before / 300); slot < Math.floor(time / 300); slot++) {
      if (slot % 12 === Number(BigInt(agent) % 12n)) return true;
      if (slot > Math.floor(notes.before / 300) + 12) return true;
    }
    return false;
  });
  const rows = due.map((agent) => ({ agent, ...own(notes, facts, agent, time) }));
  for (const { agent, row } of rows) notes.rows.set(agent, row);
  for (const { agent, row, succeeded, slots } of rows)
    endorsed(notes, facts, agent, { row, succeeded, time, left: () => book.look(agent, time, slots) });
}

function own(notes: Notes, facts: Facts, agent: string, time: number) {
  const today = Math.floor(time / DAY);
  const all = slotsOf(notes, agent, time);
  const down = downtime(all);
  const within = <T extends { day: number }>(items: T[], days: number) =>
    items.filter(({ day }) => day > today - days && day <= today);
  const windows = [7, 30, 90].map((days) => ({
    data: within(all, days).length,
    down: within(down, days).length,
    raw: within(all, days).filter((it) => it.isDown).length,
  }));
  const month = windows[1] as (typeof windows)[number];
  const hires = facts.hires.filter((it) => {
    const day = Math.floor(it.time / DAY);
    return it.seller === agent && !it.isCanary && day > today - 30 && day <= today;
  });
  // The unit of weights is 1 / the product of all cluster sizes, so every weight is a whole number.
  const lcm = hires.reduce((product, { size }) => product * BigInt(size), 1n);
  const weigh = (some: Hire[]) => some.reduce((sum, { size }) => sum + lcm / BigInt(size), 0n);
  const ok = weigh(hires.filter((it) => it.outcome === "success"));
  const failed = weigh(hires.filter((it) => it.outcome === "failure" && !isExcused(notes, it)));
  const hard = (some: Hire[]) =>
    some.reduce((sum, it) => sum + (lcm / BigInt(it.size)) * (notes.difficulty.get(it) ?? NANO), 0n);
  const hardOk = hard(hires.filter((it) => it.outcome === "success"));
  const hardAll = hardOk + hard(hires.filter((it) => it.outcome === "failure" && !isExcused(notes, it)));
  const attestation = notes.attested.findLast((it) => it.agent === agent);
  const { passing, total } = worst(attestation?.runs ?? []);
  const hours = attestation === undefined ? 24 : Math.floor((time - attestation.ranAt) / HOUR);
  const factors = [
    total === 0 ? 0 : rounded(BigInt(passing), BigInt(total)),
    month.data === 0 ? 0 : rounded(BigInt(month.data - month.down), BigInt(month.data)),
    ok + failed === 0n ? 0 : rounded(ok, ok + failed),
    notes.rows.get(agent)?.factors[3] ?? 0,
    hours >= 24 ? 0 : rounded(BigInt(24 - hours), 24n),
  ];
  const [tests = 0, uptime = 0, success = 0, , fresh = 0] = factors;
  const row: ExpectedSteward = {
    computedTime: time,
    score: 0,
    tier: 0,
    ownTrust: rounded(BigInt(30 * tests + 20 * uptime + 25 * success + 10 * fresh), 85n * NANO),
    factors,
    slotSums: windows.map((it) => `${it.data}:${it.down}:${it.raw}`).join(" "),
    denied: within(all, 30).filter((it) => it.isDenied).length,
    difficultySuccess: hardAll === 0n ? null : rounded(hardOk, hardAll),
    counts: [],
    counted: [],
    leftOut: [],
    tests: [passing, total],
  };
  return { row, succeeded: { n: ok, d: lcm }, slots: { all, down } };
}

function isExcused(notes: Notes, { receipt, isRolledBack }: Hire): boolean {
  return receipt !== null && !isRolledBack && notes.heard.get(receipt.hash) === true;
}

function worst(runs: Notes["attested"][number]["runs"]): { passing: number; total: number } {
  const isTwice = runs.some((a, n) =>
    runs
      .slice(n + 1)
      .some((b) =>
        a.seed === undefined || b.seed === undefined
          ? a.seed === b.seed && a.outcomes_hash === b.outcomes_hash
          : a.seed !== b.seed,
      ),
  );
  if (!isTwice || runs.some((it) => it.total === 0)) return { passing: 0, total: 0 };
  const [least] = [...runs].sort((a, b) => a.passing * b.total - b.passing * a.total);
  return { passing: least?.passing ?? 0, total: least?.total ?? 0 };
}

/** The valid endorsements: the last record of each, then the newest 3 of each endorser, then the newest 64. */
function holding(notes: Notes, agent: string) {
  let held: Notes["endorsed"] = [];
  for (const word of notes.endorsed) {
    if (word.agent !== agent) continue;
    held = held.filter((it) => it.endorser !== word.endorser || it.capability !== word.capability);
    if (word.revoked) continue;
    held = [...held, word];
    const own = held.filter((it) => it.endorser === word.endorser).slice(-3);
    held = held.filter((it) => it.endorser !== word.endorser || own.includes(it)).slice(-64);
  }
  return held;
}

function endorsed(
  notes: Notes,
  facts: Facts,
  agent: string,
  {
    row,
    succeeded,
    time,
    left,
  }: {
    row: ExpectedSteward;
    succeeded: { n: bigint; d: bigint };
    time: number;
    left: () => { n: bigint; d: bigint };
  },
): void {
  const held = holding(notes, agent);
  const sides = components([...ownershipGroups(facts), ...fingerprintGroups(facts)]);
  const leftOut: string[] = [];
  const counted = held.filter((it) => {
    const together = held.map((start) =>
      held.filter((other) => other.time >= start.time && other.time - start.time <= HOUR),
    );
    const isCrowd = together.some(
      (group) => group.includes(it) && new Set(group.map(({ endorser }) => endorser)).size >= 4,
    );
    const registered = facts.agents.get(it.endorser)?.time ?? time;
    const reasons = [
      ["mutual", holding(notes, it.endorser).some(({ endorser }) => endorser === agent)],
      ["cluster", sharedSize(facts, agent, it.endorser) > 1],
      ["young", time - registered < 30 * DAY],
      ["no_sale", !facts.hires.some(({ seller, isCanary }) => seller === it.endorser && !isCanary)],
      ["crowd", isCrowd],
    ] as const;
    const reason = reasons.find(([, holds]) => holds)?.[0];
    if (reason !== undefined) leftOut.push(`${it.endorser} ${it.capability} ${reason}`);
    return reason === undefined;
  });
  const parties = Map.groupBy(counted, ({ endorser }) => {
    const at = sides.findIndex((side) => side.has(endorser));
    return at < 0 ? endorser : String(at);
  });
  const trusts = [...parties.values()].map((some) =>
    Math.min(...some.map(({ endorser }) => notes.rows.get(endorser)?.ownTrust ?? 0)),
  );
  const n = counted.length;
  const unique = trusts.length;
  const sum = BigInt(trusts.reduce((total, it) => total + it, 0));
  // Exact except for the logarithms, which have an error below 10⁻¹² here.
  const base = BigInt(Math.round(Math.min(0.9, Math.log10(n + 1) / Math.log10(50)) * 1e15));
  const value =
    n === 0
      ? 0
      : rounded(base * sum * BigInt(7 * n + 3 * unique), 10n ** 15n * BigInt(unique) * NANO * BigInt(10 * n));
  row.factors[3] = value;
  row.counted = counted.map(({ endorser, capability }) => {
    const [first] = [...parties.values()].find((some) => some.some((it) => it.endorser === endorser)) ?? [];
    return [endorser, capability, first?.endorser, notes.rows.get(endorser)?.ownTrust ?? 0].join(" ");
  });
  row.leftOut = leftOut;
  const average = unique === 0 ? 0 : rounded(sum, BigInt(unique) * NANO);
  row.counts = [n, unique, average];
  const weights = [30n, 20n, 25n, 15n, 10n];
  const total = rounded(
    weights.reduce((all, weight, at) => all + weight * BigInt(row.factors[at] ?? 0), 0n),
    100n * NANO,
  );
  const { n: kept, d: whole } = left();
  const undenied = Math.max(0, total - Math.min(200_000_000, 50_000_000 * row.denied));
  row.score = rounded(BigInt(undenied) * kept, whole * NANO);
  row.tier = tier(row, succeeded);
}

function tier(
  { score, slotSums, tests, counts }: ExpectedSteward,
  succeeded: { n: bigint; d: bigint },
): number {
  const windows = slotSums.split(" ").map((it) => it.split(":").map(Number));
  const [passing = 0, all = 0] = tests;
  const [endorsements = 0] = counts;
  const holds = (at: number, days: number, up: number, covered: number, words: number, successes: number) => {
    const [data = 0, down = 0] = windows[at] ?? [];
    return (
      data >= (days * 288 * 3) / 4 &&
      (data - down) / data > up &&
      passing / all > covered &&
      endorsements > words &&
      succeeded.n > BigInt(successes) * succeeded.d
    );
  };
  const first = holds(0, 7, 0.9, 0.5, 3, -1);
  const second = first && holds(1, 30, 0.95, 0.8, 10, 100);
  const third = second && holds(2, 90, 0.99, 0.9, 50, 1000);
  if (third && score >= 950_000_000) return 3;
  if (second && score >= 800_000_000) return 2;
  return first && score >= 500_000_000 ? 1 : 0;
}
