import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import { compareWithChain, haltOf } from "./compareWithChain.ts";
import type { LedgerOnChain } from "./readLedgerOnChain.ts";

export type ChainWatchParameters = {
  /** The tree over the entries on disk. */
  tree: MerkleTree;
  /** The writer that the ledger should have. */
  writer: Address;
  gate: LedgerGate;
  /**
   * Whether a contradiction ends when a later block no longer shows it. It does not end if anchors are signed for
   * others to send, because such an anchor is still signed after a reorganization. A wrong writer is a contradiction
   * that always ends: it contradicts no history, and a new writer's service waits for the block in which the writer
   * accepts.
   */
  forgives: boolean;
};

/** Compares every answer of the chain with the ledger on disk, and closes the gate when they contradict each other. */
export class ChainWatch {
  readonly #parameters: ChainWatchParameters;
  #agreedAt: bigint | undefined;
  #contradiction: { block: bigint; error: TallystickError } | undefined;

  /**
   * The gate is closed until the chain has answered once, because an older copy of a ledger looks complete.
   */
  constructor(parameters: ChainWatchParameters) {
    this.#parameters = parameters;
    parameters.gate.close("chain", chainUnknown(), { quietly: true });
  }

  /**
   * Compares an answer of the chain with the ledger, and opens or closes the gate.
   *
   * @throws TallystickError as {@link compareWithChain}, also for an earlier contradiction that has not ended;
   * `stale_chain` when the ledger contradicts a block, but agreed with a newer one: then the older block proves nothing
   */
  seen(onChain: LedgerOnChain): void {
    const { tree, writer, gate } = this.#parameters;
    const block = onChain.block.number;
    try {
      compareWithChain(onChain, { tree, writer });
    } catch (error) {
      if (!(error instanceof TallystickError)) throw error;
      if (this.#agreedAt !== undefined && block < this.#agreedAt) throw staleChain(block, this.#agreedAt);
      if (!this.#isForGood()) this.#contradiction = { block, error };
      gate.close("chain", error);
      throw error;
    }
    // Several nodes may answer at one address. A node with older blocks has not seen the contradiction yet.
    if (this.#contradiction && (this.#isForGood() || block <= this.#contradiction.block))
      throw this.#contradiction.error;
    this.#contradiction = undefined;
    if (this.#agreedAt === undefined || block > this.#agreedAt) this.#agreedAt = block;
    gate.open("chain");
    const halt = haltOf(onChain);
    if (halt) gate.close("halt", halt);
    else gate.open("halt");
  }

  /** Whether no later block can open the gate again. */
  #isForGood(): boolean {
    const { error } = this.#contradiction ?? {};
    return error !== undefined && !this.#parameters.forgives && !ABOUT_THE_WRITER.has(error.code);
  }
}

const ABOUT_THE_WRITER = new Set(["writer_differs", "writer_changed"]);

function chainUnknown(): TallystickError {
  return new TallystickError({
    code: "chain_unknown",
    message:
      "The chain has not answered since the start, so nobody knows whether this ledger is an older copy.",
    hint: "Check RPC_URL. Reading works. Writes are accepted as soon as the chain has answered once.",
  });
}

function staleChain(block: bigint, agreedAt: bigint): TallystickError {
  return new TallystickError({
    code: "stale_chain",
    message: `The RPC answers with block ${block}. Earlier it answered with block ${agreedAt}, which agreed with the ledger.`,
    hint: "A node at RPC_URL does not have the newest blocks, or follows another branch. The service asks again.",
  });
}
