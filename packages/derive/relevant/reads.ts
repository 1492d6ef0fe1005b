import type { Place } from "../place.ts";

/** A question of an event about transfers that a relevant log does not contain yet. */
export type Read = TransfersToRead | TransfersFromRead | FirstSpentRead | PaymentsRead | AuthorizationRead;

/**
 * The first `limit` transfers of any value that reached a wallet between two positions, neither included;
 * `after` null: since the first block. `known` of them were given already.
 */
export type TransfersToRead = {
  kind: "transfersTo";
  wallet: string;
  known: number;
  after: Place | null;
  before: Place;
  limit: number;
};

/** Whether `limit` transfers of any value had left a wallet before a position, and where the last of them is. */
export type TransfersFromRead = { kind: "transfersFrom"; wallet: string; before: Place; limit: number };

/**
 * Anybody can make a wallet send an empty transfer (value 0), so an empty transfer does not show that the
 * wallet acted. After this many of them the search for its first transfer above zero stops.
 */
export const MAX_EMPTY = 10_000;

/** Where a wallet first sent some value before a position, or its empty transfer number `MAX_EMPTY`. */
export type FirstSpentRead = { kind: "firstSpent"; wallet: string; before: Place };

/**
 * The first `limit` transfers of one transaction, between two positions, that may be a receipt's payment. The answer
 * also says of each whether it is authorized.
 */
export type PaymentsRead = {
  kind: "payments";
  tx: string;
  from: string;
  to: string;
  value: bigint;
  after: Place | null;
  before: Place;
  limit: number;
};

/** Whether the transfer that is being applied is authorized. */
export type AuthorizationRead = { kind: "authorization" };

/** Asks for a read; true when the log has its answer already. */
export type Ask = (read: Read) => boolean;
