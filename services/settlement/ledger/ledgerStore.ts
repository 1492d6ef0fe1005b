import type { KeptHashes } from "tallystick-protocol/merkle/merkleTree";

/** A list of whole numbers that only grows. */
export type NumberStore = { push: (value: number) => void; at: (index: number) => number };

/** How far a store knows a ledger: entries, the byte behind the last one's line, and its hash. */
export type StorePosition = { size: number; end: number; head: string };

/**
 * What has to be known of a ledger's file to look things up in it: the hashes of its tree, and where its lines end. One that
 * was kept from an earlier opening spares the reading of what it knows.
 */
export type LedgerStore = {
  position: () => StorePosition;
  hashes: KeptHashes["level"];
  ends: () => NumberStore;
  /** Empties it: it is not of this file. */
  clear: (reason: string) => void;
};
