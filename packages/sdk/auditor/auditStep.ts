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
  /** The time limits of a holder of the work and of the judge, in milliseconds. */
  askMs?: number | undefined;
  judgeMs?: number | undefined;
  /** The largest disclosure, in bytes. */
  maxBytes?: number | undefined;
  fetch?: Fetch | undefined;
  node: AuditNode;
  works: AuditWorks;
  ledger: () => Promise<LedgerName>;
  /** Reaches sellers and buyers. */
  holderFetch: Fetch;
  /** Milliseconds since 1970. */
  now: () => number;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/** How a step ends. The end is stored before the function returns. */
export type AuditMoves = {
  /** Continues at the next step, or at the stage that the change names. */
  forward: (work: AuditWork, change: Partial<AuditWork>) => Promise<AuditWork>;
  /** Stays at the same step, which is tried again. Each pause is longer than the last. */
  later: (work: AuditWork, change: Partial<AuditWork>) => Promise<AuditWork>;
};

export type AuditStep = (work: AuditWork, signal: AbortSignal) => Promise<AuditWork>;

/** Whether a share of the time for a verdict is over. */
export function isPast({ assignment: { time, due } }: AuditWork, share: number, nowMs: number): boolean {
  return nowMs / 1000 >= time + (due - time) * share;
}
