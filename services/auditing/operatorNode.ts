import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";

/** The time of a node's last tick in unix seconds, and whether it waits for a part of a ledger. */
export type NodeStatus = { time: number; isBlocked: boolean };

/** The rules of an operator, as a node has them now. Amounts are atomic units. */
export type OperatorRules = {
  /** The account that pays the operator's auditors; null when the parameters name no such operator. */
  pool: Address | null;
  auditArbiters: readonly Address[];
  /** In ascending order of `from`: the fee of a verdict on a hire with the price `from` or more. */
  fees: readonly { from: bigint; fee: bigint }[];
};

/** An assignment that waits for its auditor's verdict. */
export type OpenAssignment = {
  hire: string;
  round: number;
  attempt: number;
  auditor: Address;
  /** The URL at which the auditor can be hired. The auditor's offer names it. */
  endpoint: string;
  capability: string;
  /** The price of the audited hire, in atomic units. */
  amount: bigint;
  /** When it was assigned, in unix seconds. */
  time: number;
  /** Until when its auditor may answer, in unix seconds. Later another auditor may be chosen. */
  due: number;
};

/** What an auditor's verdicts have earned so far, and what the pool has transferred to it, in total, in atomic units. */
export type AuditorAccount = { auditor: Address; accrued: bigint; paid: bigint };

export type RolledBackEscrow = { id: Hex; escrow: Address; hire: Hire };

/**
 * The escrows of rolled back hires. A reorganization may undo the end of those that are `settled`. Those in `unread` could
 * not be read, for the `reason`.
 */
export type RolledBackEscrows = {
  held: RolledBackEscrow[];
  settled: { id: string }[];
  unread: ReadonlySet<string>;
  reason?: unknown;
};

/** A hire whose audit failed, and that waits for its operator's decision. */
export type ChallengedHire = { hire: string; seller: Address; capability: string | null; time: number };

/** The questions of an operator's process to a node. The answers also have what the node read after its last tick. */
export type OperatorNode = {
  status: (signal?: AbortSignal) => Promise<NodeStatus>;
  rules: (signal?: AbortSignal) => Promise<OperatorRules>;
  openAssignments: (signal?: AbortSignal) => Promise<OpenAssignment[]>;
  accounts: (signal?: AbortSignal) => Promise<AuditorAccount[]>;
  /** @param over ids of permanently settled escrows. The answer leaves them out */
  rolledBackEscrows: (over: ReadonlySet<string>, signal?: AbortSignal) => Promise<RolledBackEscrows>;
  challenged: (signal?: AbortSignal) => Promise<ChallengedHire[]>;
  /** When an entry of the ledger was anchored, in unix seconds; undefined while it is not. */
  anchoredAt: (entry: { ledger: string; index: number }, signal?: AbortSignal) => Promise<number | undefined>;
};
