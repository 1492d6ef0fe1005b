import { GENESIS_HASH, parseEntryLine } from "tallystick-protocol/ledger/entry";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import type { ReadLine } from "../ledger/verifyLines.ts";

/** A line and its leaf. `reason`: what is wrong with it. */
export type ToleratedLine = { leaf: Uint8Array; reason?: string };

/**
 * Verifies lines as a ledger's chain does, and goes on after a bad one, so that each fault is told once. The line after a bad
 * one is believed about its parent: what it continues cannot be known.
 */
export class TolerantChain {
  #chain = new LedgerChain({ sha256: sha256ByNode, parentHash: GENESIS_HASH });
  #count = 0;
  #isLost = false;

  next(line: ReadLine): ToleratedLine {
    if (this.#isLost) this.#continueWith(line);
    this.#count++;
    try {
      return { leaf: this.#chain.next(line) };
    } catch (error) {
      if (!(error instanceof LedgerLineError)) throw error;
      this.#isLost = true;
      return { leaf: leafHash(line.bytes, sha256ByNode), reason: error.reason.replace(/\.$/, "") };
    }
  }

  /** Passes over entries that cannot be read. */
  skip(count: number): void {
    if (count === 0) return;
    this.#count += count;
    this.#isLost = true;
  }

  #continueWith(line: ReadLine): void {
    try {
      const { parentHash } = parseEntryLine(line.text);
      this.#chain = new LedgerChain({ sha256: sha256ByNode, parentHash, firstIndex: this.#count });
      this.#isLost = false;
    } catch {
      // It is no entry: it is told as a fault of its own, and the one after it is tried.
    }
  }
}
