import type { Place } from "../place.ts";

/** What an event needs to know of transfers that a relevant log does not have yet. */
export type Read = TransfersToRead | TransfersFromRead | FirstSpentRead | PaymentsRead | AuthorizationRead;

/**
 * The first `limit` transfers of any value that reached a wallet between two places, neither included; `after` null: since the first
 * block. `known` are told already.
 */
export type TransfersToRead = {
  kind: "transfersTo";
  wallet: string;
  known: number;
  after: Place | null;
  before: Place;
  limit: number;
};

/** Whether `limit` transfers of any value had left a wallet before a place, and where the last of them is. */
export type TransfersFromRead = { kind: "transfersFrom"; wallet: string; before: Place; limit: number };

/**
 * Anybody can make a wallet send nothing, so that is no act of its own; but of one that has sent so much, no more is looked through for
 * the first transfer of some value.
 */
export const MOST_EMPTY = 10_000;

/** Where a wallet first sent something before a place, if it did: of some value, or for the `MOST_EMPTY`-th time. */
export type FirstSpentRead = { kind: "firstSpent"; wallet: string; before: Place };

/**
 * The first `limit` transfers of one transaction, between two places, that may be a receipt's payment, each with whether it is
 * authorized.
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

/** Asks for what a read tells; true when the log has it already. */
export type Ask = (read: Read) => boolean;
