import type { Address } from "tallystick-protocol/address";
import { assignmentName } from "tallystick-protocol/audits/disclosureRequest";
import type { Hex } from "tallystick-protocol/hex";

/** An auditor that a node's draw assigned to a hire, and what the node knows of the hire. */
export type Assignment = {
  /** `<tx>-<log>` of the payment, or the escrowId. */
  hire: string;
  round: number;
  attempt: number;
  operator: Address;
  auditor: Address;
  seller: Address;
  buyer: Address;
  /** This and the next three are from the hire's receipt. Each is null if the receipt does not have it. */
  capability: string | null;
  hireId: Hex | null;
  paramsHash: Hex | null;
  resultHash: Hex | null;
  verificationVersion: string;
  /** What the buyer paid or deposited, in atomic units as a decimal string. */
  amount: string;
  /** The block of the tick that assigned the audit, its time in unix seconds, and its hash, which drew the auditor. */
  block: number;
  time: number;
  tickHash: Hex | null;
  /** Unix seconds. The first tick after this time assigns another auditor. */
  due: number;
};

/** The most assignments of one list. To find an assignment that a full list does not have, ask for its hire. */
export const MAX_LISTED = 500;

/** What auditors, and agents that show their work, ask a node that they trust. */
export type AuditNode = {
  /**
   * The assignments of an auditor that wait for its verdict, the latest first, at most {@link MAX_LISTED}. @throws
   * ServiceError
   */
  openOfAuditor: (auditor: Address, signal?: AbortSignal) => Promise<Assignment[]>;
  /**
   * The open assignments on a seller's hires. First come those whose audit is `ASSIGNED`, at most {@link MAX_LISTED}.
   * Then come those whose audit is `ASSIGNING`, also at most {@link MAX_LISTED}. @throws ServiceError
   */
  openOfSeller: (seller: Address, signal?: AbortSignal) => Promise<Assignment[]>;
  /** The open assignment on one hire, in a list of at most one. @throws ServiceError */
  openOfHire: (hire: string, signal?: AbortSignal) => Promise<Assignment[]>;
  /** Whether an assignment is final: no reorganization can undo it. @throws when the chain cannot be asked */
  isFinal: (assignment: Assignment, signal?: AbortSignal) => Promise<boolean>;
  /**
   * The origins of an agent's listings, at which it can be reached. Listings of `capability` come first, then
   * listings that are not retired. @throws ServiceError
   */
  originsOf: (agent: Address, capability: string | null, signal?: AbortSignal) => Promise<string[]>;
};

/** The part of a chain's client that says which blocks are final. Every viem public client has it. */
export type BlockReader = {
  getBlock: (
    which: { blockTag: "finalized" } | { blockNumber: bigint },
  ) => Promise<{ number: bigint | null; hash: string | null }>;
};

/** `<hire>/<round>/<attempt>`. */
export function nameOf(assignment: Assignment): string {
  return assignmentName(assignment);
}
