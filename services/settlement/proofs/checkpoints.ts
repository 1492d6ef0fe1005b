import { ed25519 } from "@noble/curves/ed25519.js";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { type AnchorDeployment, headTypedData } from "tallystick-protocol/ledger/anchor";
import type { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { headNoteSignature } from "tallystick-protocol/note/headSignature";
import {
  formatSignatureLines,
  formatSignedNote,
  formatVerifierKey,
  type NoteSignature,
  noteVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";
import type { DatedVerifierKey } from "tallystick-protocol/note/verifierKeys";
import type { WriterSigner } from "../anchoring/writerSigner.ts";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import type { SignedHistory } from "../ledger/signedHistory.ts";
import type { CheckpointKey } from "./checkpointKey.ts";

/** The writer of an anchored ledger, who signs its heads. */
export type HeadWriter = AnchorDeployment & { ledgerId: Hex; signer: WriterSigner };

/** A signed note over the first `size` entries. */
export type StoredCheckpoint = { size: number; note: string };

/**
 * The number of checkpoints that are kept: this many of the newest, and this many of the newest with the writer's
 * signature.
 */
const KEPT = 64;

/** How long a request waits for the next checkpoint, in milliseconds. */
const COVERING_MS = 3_000;

export type CheckpointsParameters = {
  origin: string;
  tree: MerkleTree;
  /** The keys that sign every checkpoint, the present one first. */
  keys: readonly CheckpointKey[];
  gate: LedgerGate;
  history: Pick<SignedHistory, "cover">;
  writer?: HeadWriter | undefined;
};

/**
 * The signed checkpoints of a ledger (C2SP tlog-checkpoint). Each carries an Ed25519 signature, or two while one
 * key replaces the other. A checkpoint with a size and root that the contract has, or had, also carries the
 * writer's EIP-712 `Head`. The writer signs no other state, because after the loss of a disk the ledger could continue
 * with another history. A clock makes the checkpoints, never a request. They cover only entries on disk.
 */
export class Checkpoints {
  /** The keys that check them, the present one first: each alone is enough. */
  readonly verifierKeys: readonly DatedVerifierKey[];
  readonly origin: string;
  readonly #parameters: CheckpointsParameters;
  readonly #plain = new Map<number, string>();
  readonly #heads = new Map<number, string>();
  /** What witnesses signed, by size. */
  readonly #cosignatures = new Map<number, NoteSignature[]>();
  /** The newest checkpoint that the quorum of witnesses has cosigned, with their signatures. */
  #witnessed: StoredCheckpoint | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(parameters: CheckpointsParameters) {
    const { origin, keys } = parameters;
    this.origin = origin;
    this.#parameters = parameters;
    this.verifierKeys = keys.map(({ seed, ...dates }) => ({
      ...noteVerifierKey(origin, ed25519.getPublicKey(seed)),
      ...dates,
    }));
  }

  /** Makes a checkpoint of the present ledger, unless there is one. */
  async make(): Promise<void> {
    const { size } = this.#parameters.tree;
    if (this.#plain.has(size) || this.#heads.has(size)) return;
    this.#keep(this.#plain, size, await this.#sign(size));
  }

  /**
   * Makes a checkpoint with the writer's signature, unless there is one.
   *
   * @param held a size and root that the contract has or had, and that the ledger's tree has too
   */
  async makeHead(held: { size: number; root: Hex }): Promise<void> {
    const { writer, tree } = this.#parameters;
    const { size, root } = held;
    if (!writer || this.#heads.has(size) || size > tree.size || toHex(tree.root(size)) !== root) return;
    const { signer, ledgerId, chainId, contract } = writer;
    const note = await this.#sign(size, async () => {
      const head = headTypedData({ ledgerId, size: BigInt(size), root }, { chainId, contract });
      return headNoteSignature(this.origin, signer.writer, await signer.sign(head));
    });
    this.#keep(this.#heads, size, note);
  }

  /** Puts signatures of witnesses under the checkpoint of a size, as long as it is kept. */
  cosign(size: number, signatures: NoteSignature[]): void {
    if (!this.#plain.has(size) && !this.#heads.has(size)) return;
    const others = (this.#cosignatures.get(size) ?? []).filter(({ name }) =>
      signatures.every((one) => one.name !== name),
    );
    this.#cosignatures.set(size, [...others, ...signatures]);
    for (const known of this.#cosignatures.keys())
      if (!this.#plain.has(known) && !this.#heads.has(known)) this.#cosignatures.delete(known);
    if (this.#witnessed?.size === size) this.witness(size);
  }

  /**
   * Call this when the quorum has cosigned the checkpoint of a size. From now on it is the newest cosigned
   * checkpoint.
   */
  witness(size: number): void {
    const note = this.#noteOf(size);
    if (note !== undefined) this.#witnessed = { size, note };
  }

  /**
   * The newest checkpoint that the quorum of witnesses has cosigned.
   *
   * @throws TallystickError (503) while nothing may be signed, or before there is one
   */
  latestWitnessed(): StoredCheckpoint {
    this.#parameters.gate.requireSignatures();
    if (this.#witnessed !== undefined) return this.#witnessed;
    throw new TallystickError({
      code: "not_witnessed",
      message: "No checkpoint is cosigned by a quorum of witnesses.",
      hint: "Ask again, or without `witnessed`. GET /health says whether this ledger has witnesses.",
      details: { headers: { "retry-after": "1" } },
    });
  }

  /**
   * The newest checkpoint.
   *
   * @throws TallystickError (503) while nothing may be signed, or before the first one is made
   */
  latest(): StoredCheckpoint {
    return this.#newest([...this.#plain.keys(), ...this.#heads.keys()]);
  }

  /**
   * The checkpoint of a size, if it is kept.
   *
   * @throws InvalidInputError naming `size`; TallystickError (503) while nothing may be signed
   */
  at(size: number): StoredCheckpoint {
    this.#parameters.gate.requireSignatures();
    const note = this.#noteOf(size);
    if (note !== undefined) return { size, note };
    const message = "is not the size of a kept checkpoint; leave it out to get the newest";
    throw new InvalidInputError({ code: "no_checkpoint", issues: [{ field: "size", message }] });
  }

  /**
   * The newest checkpoint that carries the writer's signature and covers the entry at a position; undefined
   * without one.
   */
  headCovering(index: number): StoredCheckpoint | undefined {
    this.#parameters.gate.requireSignatures();
    const size = Math.max(...this.#heads.keys());
    return size > index ? { size, note: this.#noteOf(size) as string } : undefined;
  }

  /** The newest cosigned checkpoint, if it covers the entry at a position. */
  witnessedCovering(index: number): StoredCheckpoint | undefined {
    this.#parameters.gate.requireSignatures();
    return this.#witnessed && this.#witnessed.size > index ? this.#witnessed : undefined;
  }

  /**
   * The newest checkpoint, as soon as it covers the entry at a position.
   *
   * @throws TallystickError `checkpoint_pending` (503) when no such checkpoint comes in time
   */
  async covering(index: number): Promise<StoredCheckpoint> {
    const end = performance.now() + COVERING_MS;
    for (;;) {
      const isThere = this.#plain.size + this.#heads.size > 0;
      const newest = isThere ? this.latest() : undefined;
      if (newest && newest.size > index) return newest;
      this.#parameters.gate.requireSignatures();
      const left = end - performance.now();
      if (left <= 0) throw pending();
      await this.#next(left);
    }
  }

  /** The present key as a `vkey` text (C2SP signed-note). */
  get verifierKey(): string {
    return formatVerifierKey(this.verifierKeys[0] as DatedVerifierKey);
  }

  /**
   * Signs other data with the present key of the checkpoints. The caller adds a prefix with which no note
   * begins.
   */
  sign(message: Uint8Array): Uint8Array {
    return ed25519.sign(message, this.#present.seed);
  }

  get #present(): CheckpointKey {
    return this.#parameters.keys[0] as CheckpointKey;
  }

  #next(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
    });
  }

  #newest(sizes: number[]): StoredCheckpoint {
    this.#parameters.gate.requireSignatures();
    if (sizes.length === 0) throw pending();
    const size = Math.max(...sizes);
    return { size, note: this.#noteOf(size) as string };
  }

  #noteOf(size: number): string | undefined {
    const note = this.#heads.get(size) ?? this.#plain.get(size);
    const cosignatures = this.#cosignatures.get(size) ?? [];
    return note && note + formatSignatureLines(cosignatures);
  }

  #keep(notes: Map<number, string>, size: number, note: string): void {
    notes.set(size, note);
    if (notes.size > KEPT) notes.delete(notes.keys().next().value as number);
    for (const done of [...this.#waiting]) done();
  }

  async #sign(size: number, more?: () => Promise<NoteSignature>): Promise<string> {
    const { tree, keys, history } = this.#parameters;
    const root = tree.root(size);
    await history.cover(size);
    const text = formatCheckpoint({ origin: this.origin, size, root });
    const signatures: NoteSignature[] = keys.map(({ seed }) => signNote(text, this.origin, seed));
    if (more) signatures.push(await more());
    return formatSignedNote({ text, signatures });
  }
}

function pending(): TallystickError {
  return new TallystickError({
    code: "checkpoint_pending",
    message: "The next checkpoint is not ready yet.",
    hint: "It is ready within two seconds. Ask again.",
    details: { headers: { "retry-after": "1" } },
  });
}
