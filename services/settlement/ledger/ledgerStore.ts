import type { KeptHashes } from "tallystick-protocol/merkle/merkleTree";

/** A list of whole numbers that only grows. */
export type NumberStore = { push: (value: number) => void; at: (index: number) => number };

/**
 * The part of a ledger that a store knows: the number of entries, the byte after the last line, and the hash
 * of the last entry.
 */
export type StorePosition = { size: number; end: number; head: string };

/**
 * The facts about a ledger's file that look-ups need: the hashes of its tree, and the ends of its lines. With
 * a store from an earlier run, the known entries need not be read again.
 */
export type LedgerStore = {
  position: () => StorePosition;
  hashes: KeptHashes["level"];
  ends: () => NumberStore;
  /** Empties the store. It is called when the store does not fit the file. */
  clear: (reason: string) => void;
};
