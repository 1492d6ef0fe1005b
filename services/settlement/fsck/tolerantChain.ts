import { GENESIS_HASH, parseEntryLine } from "tallystick-protocol/ledger/entry";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import type { ReadLine } from "../ledger/verifyLines.ts";

/** A line and its leaf. `reason`: what is wrong with the line. */
export type ToleratedLine = { leaf: Uint8Array; reason?: string };

/**
 * Verifies the lines of a ledger, and continues after a bad one, so that each fault is reported once. The
 * parent of the line after a bad one is not checked, because the right value is unknown.
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

  /** Skips entries that cannot be read. */
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
      // The line is not an entry. It is a separate fault, and the next line is tried.
    }
  }
}
