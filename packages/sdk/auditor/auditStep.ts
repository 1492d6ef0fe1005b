import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { LocalAccount } from "viem";
import type { AuditNode } from "../audits/assignment.ts";
import type { Fetch } from "../requestService.ts";
import type { AuditWork, AuditWorks } from "./auditWork.ts";
import type { Judge } from "./judge.ts";

/** The data that the steps of an audit share. */
export type AuditStepParameters = {
  account: LocalAccount;
  /** The URL of the node that takes the verdicts. */
  baseUrl: string;
  judge: Judge;
  /** Origins that keep the work of challenged hires, by operator. */
  operatorOrigins?: { [operator: string]: string } | undefined;
  /** How long one holder of the work may take, in milliseconds. */
  askMs?: number | undefined;
  /** How long the judge may take, in milliseconds. */
  judgeMs?: number | undefined;
  /** The largest disclosure, in bytes. */
  maxBytes?: number | undefined;
  fetch?: Fetch | undefined;
  node: AuditNode;
  works: AuditWorks;
  ledger: (signal?: AbortSignal) => Promise<LedgerName>;
  /** Reaches sellers and buyers. */
  holderFetch: Fetch;
  /** Milliseconds since 1970. */
  now: () => number;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/** The two ways in which a step ends. Both store the audit's new state before they return it. */
export type AuditMoves = {
  /** Continues at the next step, or at the stage that the change names. */
  forward: (work: AuditWork, change: Partial<AuditWork>) => Promise<AuditWork>;
  /**
   * Stays at the same step, which is tried again after a pause. Each pause is twice as long as the last, up to an
   * hour.
   */
  later: (work: AuditWork, change: Partial<AuditWork>) => Promise<AuditWork>;
};

export type AuditStep = (work: AuditWork, signal: AbortSignal) => Promise<AuditWork>;

/** An auditor that has no judgement after this share of the time says so. Then the next auditor is asked sooner. */
export const JUDGED_SHARE = 9 / 10;

/** Whether this share of the time for a verdict is over, from 0 to 1. */
export function isPast({ assignment: { time, due } }: AuditWork, share: number, nowMs: number): boolean {
  return nowMs / 1000 >= time + (due - time) * share;
}
