import { ed25519 } from "@noble/curves/ed25519.js";
import type { LocalAccount } from "viem";
import type { Address } from "../../protocol/address.ts";
import { type Hex, toHex } from "../../protocol/hex.ts";
import { type AnchorDeployment, headTypedData } from "../../protocol/ledger/anchor.ts";
import type { MerkleTree } from "../../protocol/merkle/merkleTree.ts";
import { formatCheckpoint } from "../../protocol/note/checkpoint.ts";
import { headNoteSignature } from "../../protocol/note/headSignature.ts";
import {
  formatSignedNote,
  formatVerifierKey,
  type NoteSignature,
  noteVerifierKey,
  signNote,
} from "../../protocol/note/signedNote.ts";

/** The writer of an anchored ledger, who signs its heads. */
export type HeadWriter = AnchorDeployment & { ledgerId: Hex; account: LocalAccount };

/** How many signed checkpoints are kept: the newest, the anchored ones that proofs are made for. */
const KEPT = 64;

/**
 * Signs the checkpoints of a ledger (C2SP tlog-checkpoint): with its Ed25519 key, and when it is anchored also with
 * the writer's EIP-712 `Head`, so that two that contradict each other convict the writer on chain. Every size is signed
 * once; only entries on disk are ever in a checkpoint.
 */
export class Checkpoints {
  /** The key that checks them, as `vkey` text (C2SP signed-note). */
  readonly verifierKey: string;
  readonly origin: string;
  readonly #tree: MerkleTree;
  readonly #secretKey: Uint8Array;
  readonly #writer: HeadWriter | undefined;
  readonly #signed = new Map<number, Promise<string>>();

  constructor(parameters: {
    origin: string;
    tree: MerkleTree;
    secretKey: Uint8Array;
    writer?: HeadWriter | undefined;
  }) {
    this.origin = parameters.origin;
    this.#tree = parameters.tree;
    this.#secretKey = parameters.secretKey;
    this.#writer = parameters.writer;
    this.verifierKey = formatVerifierKey(
      noteVerifierKey(parameters.origin, ed25519.getPublicKey(parameters.secretKey)),
    );
  }

  /** The signed note over the first `size` entries. */
  at(size: number): Promise<string> {
    const known = this.#signed.get(size);
    if (known) return known;
    const signed = this.#sign(size);
    this.#signed.set(size, signed);
    if (this.#signed.size > KEPT) this.#signed.delete(this.#signed.keys().next().value as number);
    signed.catch(() => this.#signed.delete(size));
    return signed;
  }

  /** Signs something else with the key of the checkpoints; whoever asks puts a context before it that no note begins with. */
  sign(message: Uint8Array): Uint8Array {
    return ed25519.sign(message, this.#secretKey);
  }

  async #sign(size: number): Promise<string> {
    const root = this.#tree.root(size);
    const text = formatCheckpoint({ origin: this.origin, size, root });
    const signatures: NoteSignature[] = [signNote(text, this.origin, this.#secretKey)];
    if (this.#writer) {
      const { account, ledgerId, chainId, contract } = this.#writer;
      const head = headTypedData({ ledgerId, size: BigInt(size), root: toHex(root) }, { chainId, contract });
      const signature = await account.signTypedData(head);
      const writer = account.address.toLowerCase() as Address;
      signatures.push(headNoteSignature(this.origin, writer, signature));
    }
    return formatSignedNote({ text, signatures });
  }
}
