import { createHash } from "node:crypto";
import type { Facts, Hire, Receipt } from "./facts.ts";
import { cameThrough, familyOf, ownFamilyOf } from "./families.ts";
import { components, fingerprintGroups, ownershipGroups, sharedSize } from "./groups.ts";

/** The oracle's data about audits, in plain arrays. */
export type Audits = {
  /** Every statement of a listing about audits, with the time from which it is valid. */
  consents: { agent: string; capability: string; mode: string; from: number; operator: string | null }[];
  all: Audit[];
  offers: Offer[];
  /** Rosters by operator and capability: the auditor at each place. */
  rosters: Map<string, string[]>;
  /** Counted hires whose sellers still have time to give the hashes of their work. */
  silent: { hire: Hire; due: number }[];
  /**
   * `queues`: the hires that wait for a draw. The queues are in the order of their first use. `waiting`: the audits
   * that wait for an auditor.
   */
  queues: {
    kind: "sample" | "recheck";
    operator: string;
    ppm: number;
    items: { audit: Audit; block: number }[];
  }[];
  waiting: Audit[];
  /** All assignments ever made, and all verdicts. */
  asked: Asked[];
  words: { operator: string; capability: string; auditor: string; at: number; until: number }[];
  /** Every change of a mode, and the index of the last tick. */
  modes: {
    operator: string;
    capability: string;
    to: "mature" | "bootstrap";
    justification: string | null;
    at: number;
    block: number;
  }[];
  lastTick: number;
  /** Sellers of hires that were rolled back, and the time until which these sellers' hires are drawn more often. */
  elevated: { seller: string; version: string; until: number }[];
  /** `contested`: refunds that were drawn for certain. `falseRefunds`: refunds of hires whose work was good. */
  contested: { buyer: string; seller: string; time: number }[];
  falseRefunds: { audit: Audit; until: number; isOver: boolean }[];
  lists: {
    operator: string;
    commitment: string;
    time: number;
    revealed: boolean;
    hires: number;
    voids: number;
  }[];
  canaries: { buyer: string; status: string; truth: string; hire: string | null }[];
  measured: { operator: string; auditor: string; capability: string; truth: string; verdict: string }[];
  judged: { offer: Offer; epoch: number; what: "right" | "wrongFail" | "wrongPass"; until: number }[];
  /** The earned and the paid amounts. */
  money: { operator: string; auditor: string; earned: bigint; paid: bigint; time: number }[];
};

export type Asked = {
  audit: Audit;
  /** Index of the event of its assignment. */
  at: number;
  /** The operator's own models, if the operator itself judges. */
  models: string[] | null;
  round: number;
  attempt: number;
  auditor: string;
  host: string;
  due: number;
  time: number;
  over: string[];
  verdict: string | null;
  isMissed: boolean;
  fee: bigint;
};

export type Audit = {
  id: string;
  hire: string;
  operator: string;
  capability: string | null;
  seller: string;
  buyer: string;
  amount: bigint;
  version: string;
  canary: string | null;
  receipt: Receipt | null;
  isDisclosed: boolean;
  ppm: number;
  cause: string;
  status: string;
  reason: string | null;
  round: number;
  attempt: number;
  words: string;
  block: number;
  /** The block and the time of its draw. */
  drawn: number | null;
  drawnAt: number | null;
  closed: number | null;
  /** The time since which no auditor was found for the audit. */
  nobodySince: number | null;
  mode: string | null;
  history: string | null;
  /** The audit's status when its operator left the parameters. */
  abandonedWhile: string | null;
  decision: string | null;
  /** Whether a record of the operator decided the audit. */
  isDecidedByHand: boolean;
  /** How the audit counts in its seller's figures, and until when. */
  counts: { as: "passed" | "rolledBack"; until: number } | null;
  asked: Asked[];
};

export type Offer = {
  agent: string;
  operator: string;
  capabilities: string[];
  host: string;
  issuedAt: number;
  isIn: boolean;
  missed: number;
  removedFor: string | null;
  /** The time until which the auditor's offers do not count after a removal for wrong verdicts; the number of such removals. */
  barred: number | null;
  epoch: number;
};

export const noAudits = (): Audits => ({
  consents: [],
  all: [],
  offers: [],
  rosters: new Map(),
  silent: [],
  queues: [],
  waiting: [],
  asked: [],
  words: [],
  modes: [],
  lastTick: -1,
  elevated: [],
  contested: [],
  falseRefunds: [],
  lists: [],
  canaries: [],
  measured: [],
  judged: [],
  money: [],
});

export const isOpen = (audit: Audit) => ["assigning", "assigned"].includes(audit.status);
export const followed = (facts: Facts, operator: string | null) =>
  operator !== null && Object.keys(facts.params.audit.operators).includes(operator);

export const drawNumber = (...words: (string | number)[]): bigint =>
  createHash("sha256").update(words.join(" ")).digest().readBigUInt64BE();

/** The buyer groups: each has the addresses that clusters of either kind connect. */
export const parties = (facts: Facts) => components([...ownershipGroups(facts), ...fingerprintGroups(facts)]);

/** Whether two addresses are in one cluster, or in one buyer group. */
export function together(facts: Facts, a: string, b: string): boolean {
  return sharedSize(facts, a, b) > 1 || parties(facts).some((it) => it.has(a) && it.has(b));
}

/** Whether two addresses are of one family. An address that never acted has no family. */
export function areSameFamily(facts: Facts, a: string, b: string): boolean {
  const family = ownFamilyOf(facts, a);
  return family !== null && family === ownFamilyOf(facts, b);
}

/** Whether a buyer pays with money of an account's family, or money that came through that account. */
export function isBehind(facts: Facts, buyer: string, who: string): boolean {
  return familyOf(facts, buyer) === ownFamilyOf(facts, who) || cameThrough(facts, buyer, who);
}

export function rosterOf({ audits }: Facts, operator: string, capability: string): string[] {
  const name = `${operator} ${capability}`;
  const roster = audits.rosters.get(name) ?? [];
  audits.rosters.set(name, roster);
  return roster;
}

export function join(facts: Facts, operator: string, capability: string, agent: string): void {
  const roster = rosterOf(facts, operator, capability);
  if (!roster.includes(agent)) roster.push(agent);
}

export function leave(facts: Facts, operator: string, capability: string, agent: string): void {
  const roster = rosterOf(facts, operator, capability);
  const place = roster.indexOf(agent);
  if (place < 0) return;
  const last = roster.pop() as string;
  if (place < roster.length) roster[place] = last;
}

export function offerOf({ audits }: Facts, operator: string, agent: string): Offer {
  return audits.offers.find((it) => it.operator === operator && it.agent === agent) as Offer;
}
