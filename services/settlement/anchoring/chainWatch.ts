import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import { compareWithChain, haltOf } from "./compareWithChain.ts";
import type { LedgerOnChain } from "./readLedgerOnChain.ts";

export type ChainWatchParameters = {
  /** Over the entries on disk. */
  tree: MerkleTree;
  /** Whose ledger it is taken to be. */
  writer: Address;
  gate: LedgerGate;
  /**
   * Whether a contradiction is over when a later block does not show it any more. Not where anchors are signed for
   * others to send: what a reorg undid is then still a word of the writer. Who the writer is contradicts no history, so
   * that is always forgiven: a new writer's service waits for the block of its acceptance.
   */
  forgives: boolean;
};

/** Holds every answer of the chain against the ledger on disk, and closes the gate when they do not belong together. */
export class ChainWatch {
  readonly #parameters: ChainWatchParameters;
  #agreedAt: bigint | undefined;
  #contradiction: { block: bigint; error: TallystickError } | undefined;

  /** The gate is closed until the chain has answered once: an older copy of a ledger looks like a whole one. */
  constructor(parameters: ChainWatchParameters) {
    this.#parameters = parameters;
    parameters.gate.close("chain", chainUnknown(), { quietly: true });
  }

  /**
   * Takes in an answer of the chain.
   *
   * @throws TallystickError as {@link compareWithChain}; `stale_chain` when an older block than one that was seen
   * contradicts the ledger, which says nothing
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
    // A node that is behind, among several that answer in turn, has not seen the contradiction yet.
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
    hint: "Check RPC_URL. Reading works; writes are taken as soon as the chain has answered once.",
  });
}

function staleChain(block: bigint, agreedAt: bigint): TallystickError {
  return new TallystickError({
    code: "stale_chain",
    message: `The RPC answers with block ${block}; it knew block ${agreedAt} before, which agreed with the ledger.`,
    hint: "A node behind RPC_URL lags or follows another branch. It is asked again.",
  });
}
