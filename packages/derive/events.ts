import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { Params } from "tallystick-protocol/records/params";

/**
 * The event log: all that the derivation reads, one JSON object a line, in the order block, log, seq; a block's tick is
 * its last. Amounts are decimal strings of atomic units, addresses lower case, times unix seconds of the block.
 */
export type DeriveEvent =
  | ParamsEvent
  | TransferEvent
  | EscrowDeposited
  | EscrowDelivered
  | EscrowReleased
  | EscrowRefunded
  | EscrowTimedOut
  | RecordEvent
  | TickEvent;

type OnChain<Kind extends string> = { block: number; time: number; log: number; kind: Kind };

/** The token that a log is about, and the first block of which its transfers were read. */
export type LogToken = { address: Address; firstBlock: number };

/**
 * The first line of an exported log, and of no other: the parameters the node was configured with, and the token. Without it
 * the default parameters hold, and whoever reads the log has to know the token.
 */
export type ParamsEvent = OnChain<"params"> & {
  params: Params;
  token?: LogToken;
  /** Which transfers the log has: all of the token, or those that matter. */
  form?: "all" | "relevant";
};

export type TransferEvent = OnChain<"transfer"> & {
  token: Address;
  from: Address;
  to: Address;
  value: string;
  tx: Hex;
  /** The log just before it is `AuthorizationUsed` by `from` (EIP-3009). */
  authorized: boolean;
};

export type EscrowDeposited = OnChain<"escrow.deposited"> & {
  provider: string;
  escrow: Address;
  escrowId: Hex;
  hireId: Hex;
  buyer: Address;
  seller: Address;
  payee: Address;
  amount: string;
  fee: string;
  feeRecipient: Address;
  deadline: number;
  arbiter: Address;
  tx: Hex;
};

export type EscrowDelivered = OnChain<"escrow.delivered"> & { escrowId: Hex; resultHash: Hex };

/** `toSeller` is gross: the fee is part of it. */
export type EscrowReleased = OnChain<"escrow.released"> & {
  escrowId: Hex;
  toSeller: string;
  toBuyer: string;
  fee: string;
};

export type EscrowRefunded = OnChain<"escrow.refunded"> & { escrowId: Hex; by: Address };

export type EscrowTimedOut = OnChain<"escrow.timedOut"> & { escrowId: Hex; delivered: boolean };

/** A record of a followed ledger, at the log position of the anchor that covers it. */
export type RecordEvent = OnChain<"record"> & {
  ledger: Hex;
  seq: number;
  hash: string;
  type: string;
  body: RecordBody;
  signer: Address;
  signature: Hex;
  /** The verdict on chain at that block, when the signer is a contract. */
  erc1271?: boolean;
  /** Why the entry could not be read as a record at all; it is kept as invalid. */
  error?: string;
};

/** `hash`: of the block, so that whoever keeps a log can tell of which chain it is. Logs made by hand need none. */
export type TickEvent = { block: number; time: number; kind: "tick"; hash?: Hex };

/** Where an event stands; a tick has neither log nor seq. */
export type Position = { block: number; time: number; log: number | null; seq: number | null };

export function positionOf(event: DeriveEvent): Position {
  return {
    block: event.block,
    time: event.time,
    log: event.kind === "tick" ? null : event.log,
    seq: event.kind === "record" ? event.seq : null,
  };
}
