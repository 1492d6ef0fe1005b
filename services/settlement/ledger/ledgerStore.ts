import type { KeptHashes } from "tallystick-protocol/merkle/merkleTree";

/** A list of whole numbers that only grows. */
export type NumberStore = { push: (value: number) => void; at: (index: number) => number };

/** How much of a ledger a store knows: entries, the byte after the last one's line, and its hash. */
export type StorePosition = { size: number; end: number; head: string };

/**
 * What must be known of a ledger's file to look things up in it: the hashes of its tree, and where its lines end. A store
 * from an earlier opening saves reading what it knows.
 */
export type LedgerStore = {
  position: () => StorePosition;
  hashes: KeptHashes["level"];
  ends: () => NumberStore;
  /** Empties it: it belongs to another file. */
  clear: (reason: string) => void;
};
