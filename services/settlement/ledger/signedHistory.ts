import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import type { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import {
  LAST_SIGNED_FILE,
  LAST_WORD_FILE,
  type LastSigned,
  readLastSigned,
  writeLastSigned,
} from "./lastSigned.ts";
import type { LedgerGate } from "./ledgerGate.ts";

export type SignedHistoryParameters = {
  /**
   * The folder that stores what was signed: the ledger's folder, which this process has locked, or a folder
   * on another disk.
   */
  folder: string;
  /** Which signatures are stored there: all of them, or only anchors that others send. */
  of?: "all" | "words";
  /** The tree over the entries on disk. */
  tree: MerkleTree;
  gate: LedgerGate;
  /** The storage of what was signed. Default: the folder's file. A simulation uses another one. */
  store?: LastSignedStore;
  /** Checks that the ledger's file is still the opened one, and throws otherwise. */
  checkFile?: () => Promise<void>;
};

/** Reads and writes what was signed last. A write is on disk when its promise resolves. */
export type LastSignedStore = {
  read: () => Promise<LastSigned | undefined>;
  write: (lastSigned: LastSigned) => Promise<void>;
};

/**
 * Prevents the service from ever signing two histories. Before a signature leaves, the state to sign is compared with
 * what was signed last, and is written down. A ledger that does not contain what was signed last is an older copy, or
 * another history. Then nothing more is signed or written.
 */
export class SignedHistory {
  readonly #parameters: SignedHistoryParameters & { store: LastSignedStore };
  #turn: Promise<void> = Promise.resolve();

  private constructor(parameters: SignedHistoryParameters & { store: LastSignedStore }) {
    this.#parameters = parameters;
  }

  /**
   * Writes down that nothing was signed yet, if there is no file. Call this before the first entry comes from
   * elsewhere, because entries without this file count as an incomplete copy.
   */
  static async begin({ folder, of = "all", tree }: Pick<SignedHistoryParameters, "folder" | "of" | "tree">) {
    const name = of === "all" ? LAST_SIGNED_FILE : LAST_WORD_FILE;
    if (tree.size > 0 || (await readLastSigned(folder, name)) !== undefined) return;
    await writeLastSigned(folder, { size: 0, root: toHex(tree.root(0)) }, name);
  }

  /** Compares the ledger with what was signed last. Closes the gate when they contradict each other. */
  static async open(parameters: SignedHistoryParameters): Promise<SignedHistory> {
    const { folder, tree, gate, of = "all" } = parameters;
    const name = of === "all" ? LAST_SIGNED_FILE : LAST_WORD_FILE;
    const store = parameters.store ?? {
      read: () => readLastSigned(folder, name),
      write: (lastSigned) => writeLastSigned(folder, lastSigned, name),
    };
    try {
      const last = await store.read();
      // From now on the file exists. Entries without it count as an incomplete copy.
      if (last === undefined && tree.size === 0) await store.write({ size: 0, root: toHex(tree.root(0)) });
      else requireContained(tree, last, of);
    } catch (error) {
      if (!(error instanceof TallystickError)) throw error;
      gate.close("signed", error);
    }
    return new SignedHistory({ ...parameters, store });
  }

  /**
   * Call it before you sign the first `size` entries, and sign when it resolves. Callers take turns.
   *
   * @throws TallystickError when the gate is closed, or closes now because what was signed last is not in the
   * ledger. Errors of the disk are passed on. Then nothing may be signed.
   */
  cover(size: number): Promise<void> {
    const covered = this.#turn.then(() => this.#cover(size));
    this.#turn = covered.catch(() => {});
    return covered;
  }

  async #cover(size: number): Promise<void> {
    const { store, tree, gate, checkFile, of = "all" } = this.#parameters;
    gate.requireSignatures();
    await checkFile?.();
    try {
      const last = requireContained(tree, await store.read(), of);
      if (size > last.size) await store.write({ size, root: toHex(tree.root(size)) });
    } catch (error) {
      if (error instanceof TallystickError) gate.close("signed", error);
      throw error;
    }
    gate.requireSignatures();
  }
}

/** @throws TallystickError when what was signed last is unknown, or not the beginning of this ledger */
function requireContained(
  tree: MerkleTree,
  last: LastSigned | undefined,
  of: NonNullable<SignedHistoryParameters["of"]>,
): LastSigned {
  if (last === undefined) {
    const file = of === "all" ? LAST_SIGNED_FILE : LAST_WORD_FILE;
    throw new TallystickError({
      code: "last_signed_missing",
      message: `Nobody knows what was signed of this ledger: it has ${tree.size} entries, but ${file} is missing.`,
      hint:
        of === "all"
          ? "Restore it from the same copy as the ledger. Without such a copy, stop the service and run: tallystick ledger adopt"
          : "Check that the folder in ANCHOR_WORDS_DIR exists. If anchors are signed for a relayer for the first time, stop the service and run: tallystick ledger adopt",
    });
  }
  if (last.size > tree.size) {
    throw new TallystickError({
      code: "last_signed_ahead",
      message: `${last.size} entries were signed, and the ledger has only ${tree.size}.`,
      hint:
        of === "all"
          ? "Entries are missing: this is an older copy. Stop the service and restore the newest one, or run: tallystick ledger pull --from URL"
          : "An anchor of these entries was signed, and the contract may not have it yet. Restore the newest copy. If those entries are lost, only another writer can continue the ledger (docs/ledger/succession.md).",
    });
  }
  if (toHex(tree.root(last.size)) !== last.root) {
    throw new TallystickError({
      code: "last_signed_contradicts",
      message: `The first ${last.size} entries of the ledger are not the signed ones.`,
      hint:
        of === "all"
          ? "The ledger's file was replaced or rewritten. Stop the service and restore it from a copy."
          : "An anchor of other entries was signed. Stop the service and restore the newest copy. If those entries are lost, only another writer can continue the ledger (docs/ledger/succession.md).",
    });
  }
  return last;
}
