import type { Address } from "tallystick-protocol/address";
import type { LoggedBytes, LoggedText } from "tallystick-protocol/erc8004/loggedText";
import type { Registries } from "tallystick-protocol/erc8004/registries";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { Params } from "tallystick-protocol/records/params";

/**
 * The event log: all that the derivation reads, one JSON object on each line, in the order block, log, seq. A
 * block's tick is its last event. Lines about the past (`history`, `count`) stand right before the event that
 * needs them. Amounts are decimal strings of atomic units, addresses lower case, times unix seconds of the
 * block.
 */
export type DeriveEvent =
  | ParamsEvent
  | TransferEvent
  | HistoryEvent
  | CountEvent
  | EscrowDeposited
  | EscrowDelivered
  | EscrowReleased
  | EscrowRefunded
  | EscrowTimedOut
  | RecordEvent
  | IdentityEvent
  | TickEvent;

type OnChain<Kind extends string> = { block: number; time: number; log: number; kind: Kind };

/** The token that a log is about, and the first block whose transfers were read. */
export type LogToken = { address: Address; firstBlock: number };

/** Which transfers a log has: all of the token, or only those that matter. Default: all. */
export type LogForm = "all" | "relevant";

/**
 * The registries of ERC-8004 whose events the log has. Each comes with the implementations whose events are
 * understood.
 */
export type LogRegistries = Registries & { implementations: Address[] };

/**
 * The first line of an exported log. No other line has this kind. It names the parameters with which the node was
 * configured, the token, and the chain, whose receipts alone count. Without this line the default parameters hold,
 * receipts of any chain count, and the reader of the log has to know the token.
 */
export type ParamsEvent = OnChain<"params"> & {
  params: Params;
  chainId?: number;
  token?: LogToken;
  form?: LogForm;
  registries?: LogRegistries;
};

type Transfer = { token: Address; from: Address; to: Address; value: string; tx: Hex };

export type TransferEvent = OnChain<"transfer"> &
  Transfer & {
    /**
     * Whether the log just before it is `AuthorizationUsed` by `from` (EIP-3009). A relevant log says this for
     * transfers to a wallet with a live listing, and for transfers that a receipt waits for. For other transfers it
     * says false, and nothing uses that value.
     */
    authorized: boolean;
  };

/**
 * In a relevant log: a transfer of the past that the next event needs, at its own position. Without `authorized` it
 * is a transfer that reached its receiver before the log began to watch that wallet. With `authorized` it may be the
 * payment that a receipt names.
 */
export type HistoryEvent = OnChain<"history"> & Transfer & { authorized?: boolean };

/**
 * In a relevant log: the position of one transfer of a wallet, by its number. `out` counts the transfers that left the
 * wallet, `in` those that reached it, and `spent` those that left it and moved more than zero.
 */
export type CountEvent = OnChain<"count"> & {
  wallet: Address;
  side: "in" | "out" | "spent";
  transfers: number;
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
  /** If the signer is a contract: what the contract said of the signature at that block. */
  erc1271?: boolean;
  /** Why the entry could not be read as a record. It is kept as invalid. */
  error?: string;
};

/** An event of a registry of ERC-8004. An identity is the decimal `agentId` of its token. */
export type IdentityEvent =
  | IdentityRegistered
  | IdentityUriUpdated
  | IdentityMetadataSet
  | IdentityTransferred
  | FeedbackGiven
  | FeedbackRevoked
  | FeedbackResponded
  | RegistryUpgraded;

type OfRegistry<Kind extends string> = OnChain<Kind> & { registry: Address; tx: Hex };
type OfIdentity<Kind extends string> = OfRegistry<Kind> & { identity: string };

export type IdentityRegistered = OfIdentity<"identity.registered"> & { owner: Address; uri: LoggedText };

export type IdentityUriUpdated = OfIdentity<"identity.uriUpdated"> & { by: Address; uri: LoggedText };

export type IdentityMetadataSet = OfIdentity<"identity.metadataSet"> & {
  key: LoggedText;
  value: LoggedBytes;
};

/** From the zero address when the identity is minted. */
export type IdentityTransferred = OfIdentity<"identity.transferred"> & { from: Address; to: Address };

/** The `index`-th feedback of a client on an identity, from 1. */
type OfFeedback<Kind extends string> = OfIdentity<Kind> & { client: Address; index: string };

/**
 * `value` is a decimal integer with `decimals` digits behind the point. `hash` is what the client gives as the
 * keccak-256 of the file at `uri`.
 */
export type FeedbackGiven = OfFeedback<"feedback.given"> & {
  value: string;
  decimals: number;
  tag1: LoggedText;
  tag2: LoggedText;
  endpoint: LoggedText;
  uri: LoggedText;
  hash: Hex;
};

export type FeedbackRevoked = OfFeedback<"feedback.revoked">;

export type FeedbackResponded = OfFeedback<"feedback.responded"> & {
  responder: Address;
  uri: LoggedText;
  hash: Hex;
};

/** The proxy of a registry runs another contract from here on. */
export type RegistryUpgraded = OfRegistry<"registry.upgraded"> & { implementation: Address };

/**
 * `hash` is the block's hash. It shows which chain a stored log is from. A log that was written by hand needs
 * none.
 */
export type TickEvent = { block: number; time: number; kind: "tick"; hash?: Hex };

/** A line about the past. It stands before the event that needs it, and not at its own position. */
export type PastEvent = HistoryEvent | CountEvent;

export function isPast(event: DeriveEvent): event is PastEvent {
  return event.kind === "history" || event.kind === "count";
}

/** The position of an event. A tick has neither log nor seq. */
export type Position = { block: number; time: number; log: number | null; seq: number | null };

export function positionOf(event: DeriveEvent): Position {
  return {
    block: event.block,
    time: event.time,
    log: event.kind === "tick" ? null : event.log,
    seq: event.kind === "record" ? event.seq : null,
  };
}
