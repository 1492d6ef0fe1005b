import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";

/** The time of a node's last tick in unix seconds, and whether it waits for a part of a ledger. */
export type NodeStatus = { time: number; isBlocked: boolean };

/** The rules that an operator works by, as a node has them now. Amounts are atomic units. */
export type OperatorRules = {
  /** Who pays the operator's auditors; null when the parameters name no such operator. */
  pool: Address | null;
  auditArbiters: readonly Address[];
  /** In ascending order of `from`; what a verdict on a hire of that price or more is worth. */
  fees: readonly { from: bigint; fee: bigint }[];
};

/** An assignment that waits for its auditor's word. */
export type OpenAssignment = {
  hire: string;
  round: number;
  attempt: number;
  auditor: Address;
  /** Where the auditor says that it can be hired. */
  endpoint: string;
  capability: string;
  /** The price of the audited hire, in atomic units. */
  amount: bigint;
  /** When the tick was that assigned it, and until when nobody else is looked for, in unix seconds. */
  time: number;
  due: number;
};

/** What an auditor's verdicts came to so far, and what the pool has transferred to it, since the beginning, in atomic units. */
export type AuditorAccount = { auditor: Address; accrued: bigint; paid: bigint };

/** An escrow of a hire that was rolled back. */
export type RolledBackEscrow = { id: Hex; escrow: Address; hire: Hire };

/** A hire that two auditors found bad, and that waits for its operator's decision. */
export type ChallengedHire = { hire: string; seller: Address; capability: string | null; time: number };

/** What the operator's process asks a node; its answers are of the last tick. */
export type OperatorNode = {
  status: (signal?: AbortSignal) => Promise<NodeStatus>;
  rules: (signal?: AbortSignal) => Promise<OperatorRules>;
  openAssignments: (signal?: AbortSignal) => Promise<OpenAssignment[]>;
  accounts: (signal?: AbortSignal) => Promise<AuditorAccount[]>;
  rolledBackEscrows: (signal?: AbortSignal) => Promise<RolledBackEscrow[]>;
  challenged: (signal?: AbortSignal) => Promise<ChallengedHire[]>;
  /** When an entry of the ledger was anchored, in unix seconds; undefined while it is not. */
  anchoredAt: (entry: { ledger: string; index: number }, signal?: AbortSignal) => Promise<number | undefined>;
};
