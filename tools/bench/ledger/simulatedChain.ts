import { fromHex, toHex } from "tallystick-protocol/hex";
import { EMPTY_ROOT } from "tallystick-protocol/merkle/hash";
import { verifyConsistency } from "tallystick-protocol/merkle/verifyConsistency";
import type { AnchorContract, NextAnchor } from "../../../services/settlement/anchoring/anchorContract.ts";
import type {
  AnchoredHead,
  LedgerOnChain,
} from "../../../services/settlement/anchoring/readLedgerOnChain.ts";

/** Thrown in place of an answer when the asking process, or its RPC, is killed. */
export class Cut extends Error {}

/**
 * A chain in memory with one AnchoredLedger: blocks, pending transactions, reorgs, and nodes that are behind.
 * Its rule is that of the real contract: an anchor must prove that it extends the stored head.
 */
export class SimulatedChain {
  /** The head after each block; the first is the opening. */
  readonly blocks: AnchoredHead[] = [{ root: toHex(EMPTY_ROOT), size: 0n, time: 0n, seq: 0n }];
  readonly waiting: NextAnchor[] = [];
  /** How many blocks the next answer is behind. */
  lag = 0;
  /** What happens to the next anchor: it is mined at once, waiting while its sender is cut off, or never mined. */
  next: "mine" | "cut" | "lose" = "mine";
  readonly writer: `0x${string}`;
  readonly confirmations: number;

  constructor({ writer, confirmations }: { writer: `0x${string}`; confirmations: number }) {
    this.writer = writer;
    this.confirmations = confirmations;
  }

  get head(): AnchoredHead {
    return this.blocks.at(-1) as AnchoredHead;
  }

  /** Mines a block with all pending transactions. Those that the contract refuses are dropped. */
  mine(): void {
    let head = this.head;
    for (const { size, root, proof } of this.waiting.splice(0)) {
      const isProved =
        size === head.size
          ? root === head.root
          : size > head.size &&
            verifyConsistency({
              from: Number(head.size),
              to: Number(size),
              fromRoot: fromHex(head.root),
              toRoot: fromHex(root),
              proof: proof.map((node) => fromHex(node)),
            });
      if (isProved) head = { size, root, time: BigInt(this.blocks.length), seq: head.seq + 1n };
    }
    this.blocks.push(head);
  }

  /** Replaces the newest blocks by empty blocks, and adds one empty block. Confirmed blocks always stay. */
  reorg(depth: number): void {
    const gone = Math.min(depth, this.confirmations, this.blocks.length - 1);
    this.blocks.splice(this.blocks.length - gone);
    for (let n = 0; n <= gone; n++) this.blocks.push(this.head);
  }

  /**
   * The chain with the interface that settlement's anchorer uses.
   *
   * @param sign signs an anchor that another account sends; without it the writer sends it
   */
  contract(sign: (anchor: NextAnchor) => void = () => {}): AnchorContract {
    return {
      read: async () => this.#answer(),
      open: async () => {},
      anchor: async (anchor) => {
        sign(anchor);
        const { root } = anchor;
        if (this.next === "lose") throw new Cut("nobody took the transaction");
        this.waiting.push(anchor);
        if (this.next === "cut") throw new Cut("cut off before the transaction was mined");
        this.mine();
        if (this.head.root !== root) throw new Error("the contract refused it");
        return `0x${"00".repeat(32)}`;
      },
    };
  }

  #answer(): LedgerOnChain {
    const number = Math.max(0, this.blocks.length - 1 - this.lag);
    this.lag = 0;
    const confirmed = this.blocks[number - this.confirmations];
    const head = this.blocks[number] as AnchoredHead;
    return {
      block: { number: BigInt(number), time: BigInt(number) },
      ledger: { writer: this.writer, head, isEquivocated: false, announced: null, formerSize: null },
      confirmed,
    };
  }
}
