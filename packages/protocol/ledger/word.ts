import { type Address, ZERO_ADDRESS } from "../address.ts";
import { type Hex, ZERO_HASH } from "../hex.ts";

/** Where a word comes from. The numbers are those of the contract (IAnchoredLedger.WordKind). */
export const wordKind = { stored: 0, head: 1, anchor: 2 } as const;

/**
 * A size and a root that somebody stated for a ledger, as `proveFork` takes it (IAnchoredLedger.Word).
 *
 * `seq` is the number signed in an anchor, 0n for the other kinds.
 */
export type Word = {
  kind: (typeof wordKind)[keyof typeof wordKind];
  signer: Address;
  seq: bigint;
  size: bigint;
  root: Hex;
  signature: Hex;
};

/** The head that the contract stores. The contract reads only the kind of this word. */
export const storedWord: Word = {
  kind: wordKind.stored,
  signer: ZERO_ADDRESS,
  seq: 0n,
  size: 0n,
  root: ZERO_HASH,
  signature: "0x",
};

/** A head that a writer signed under a checkpoint. */
export function headWord(word: Pick<Word, "signer" | "size" | "root" | "signature">): Word {
  return { ...word, kind: wordKind.head, seq: 0n };
}

/** An anchor that a writer signed, so that somebody else can send it. */
export function anchorWord(word: Omit<Word, "kind">): Word {
  return { ...word, kind: wordKind.anchor };
}
