import * as z from "zod";
import { type Address, addressSchema } from "../address.ts";
import { InvalidInputError, invalidInputFromZod, TallystickError } from "../errors.ts";
import { bytesEqual, fromHex, type Hex, toHex } from "../hex.ts";
import { ledgerId } from "../ledger/anchor.ts";
import type { LedgerEntry } from "../ledger/entry.ts";
import { lineLeafHash } from "../merkle/entryLeafHash.ts";
import { verifyInclusion } from "../merkle/verifyInclusion.ts";
import { type Checkpoint, parseCheckpoint } from "../note/checkpoint.ts";
import { type HeadSignature, headSignatureOf, isHeadSignedBy } from "../note/headSignature.ts";
import {
  isNoteSignedBy,
  type NoteVerifierKey,
  parseSignedNote,
  parseVerifierKey,
  type SignedNote,
} from "../note/signedNote.ts";
import { ProofError, readProvenEntry } from "./provenEntry.ts";

const hex32 = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/, "must be 0x and 64 lower-case hex digits")
  .transform((text) => text as Hex);

/** Longest `.proof` file, in UTF-16 units. */
const MAX_BUNDLE_LENGTH = 2 ** 27;

/**
 * A `.proof` file (JSON): one entry of a ledger, and everything that proves that the ledger has it.
 *
 * `entry` is the canonical line as text. `index` is the entry's position from 0, and `inclusion_proof` its path in the
 * tree of `checkpoint`. `checkpoint` is a C2SP signed note, and `verifier_key` is the `vkey` that signed it. `anchor`
 * says where the chain has the same size and root; null if the ledger is not anchored yet. The ledger's id follows
 * from its first writer and its guardian; `writer` is who signed the checkpoint's head.
 */
export const proofBundleSchema = z.strictObject({
  format: z.literal("tallystick/proof/v1", { error: 'must be "tallystick/proof/v1"' }),
  entry: z.string(),
  index: z.int().min(0),
  inclusion_proof: z.array(hex32).max(64),
  checkpoint: z.string().max(1_000_000),
  verifier_key: z.string().max(1_000),
  ledger: z
    .strictObject({
      id: hex32,
      chain_id: z.int().min(0),
      contract: addressSchema,
      first_writer: addressSchema,
      guardian: addressSchema,
      writer: addressSchema,
    })
    .nullable(),
  anchor: z.strictObject({ transaction: hex32 }).nullable(),
});

export type ProofBundle = z.output<typeof proofBundleSchema>;

/** What a checked proof shows. */
export type VerifiedProof = {
  entry: LedgerEntry;
  index: number;
  leafHash: Hex;
  checkpoint: Checkpoint;
  /** The bundle's own key. If the caller named no keys to trust, this is the key that was used. */
  verifierKey: string;
  /**
   * The ledger on chain. Null if it was not anchored when the proof was made, because the writer signs only
   * what the contract has.
   */
  ledger: VerifiedLedger | null;
  /** The transaction that anchored the ledger, as the bundle states it. The caller must check it on the chain. */
  transaction: Hex | null;
};

/** The ledger that a proof is about. Its id was computed again from its first writer and its guardian. */
export type VerifiedLedger = {
  id: Hex;
  chainId: number;
  contract: Address;
  firstWriter: Address;
  guardian: Address;
  /** The signer of the checkpoint's size and root. */
  writer: Address;
  /**
   * The writer's signature. The signature of a key was checked here. Only the chain can check the signature of a
   * contract.
   */
  word: HeadSignature;
  /**
   * Why the signature counts: `id` when the ledger's id names this writer, `pinned` when the caller knew the writer.
   * `nothing` when only the chain can say (see `leaveWriterToChain`).
   */
  rests: "id" | "pinned" | "nothing";
};

export type VerifyProofParameters = {
  /** The verifier keys to trust. One of them must have signed the checkpoint. Default: the bundle's own key. */
  keys?: readonly NoteVerifierKey[] | undefined;
  /** The writer of the ledger, from a source other than the bundle. */
  writer?: Address | undefined;
  /**
   * Set it if the caller asks the contract afterwards who the writer is. Only the contract shows that a later writer is
   * the right one.
   */
  leaveWriterToChain?: boolean;
};

/** Nothing shows that the signer of the proof's checkpoint writes the ledger. Ask the chain, or name the writer. */
export class UnconfirmedWriterError extends TallystickError {
  constructor(message: string) {
    const hint =
      "Ask the chain (--rpc-url; an MCP server by TALLYSTICK_RPC_URL), or name the writer if you know it" +
      " (--writer, and --key if it is a contract).";
    super({ code: "writer_unconfirmed", message, hint });
  }
}

/**
 * Reads a `.proof` file.
 *
 * @throws InvalidInputError naming every wrong field
 */
export function parseProofBundle(text: string): ProofBundle {
  if (text.length > MAX_BUNDLE_LENGTH) {
    const message = `must have at most ${MAX_BUNDLE_LENGTH} characters`;
    throw new InvalidInputError({ issues: [{ field: "", message }] });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new InvalidInputError({ issues: [{ field: "", message: "is no JSON" }], cause });
  }
  const parsed = proofBundleSchema.safeParse(value);
  if (!parsed.success) throw invalidInputFromZod(parsed.error);
  return parsed.data;
}

/**
 * Makes all checks of a proof that need no network. The entry must have the hash that it states, and be in the tree of
 * the checkpoint. The checkpoint must be signed. The ledger's id must belong to the writer that signed the head.
 *
 * The id names the ledger's first writer. Only the chain shows that another writer followed, or that a contract
 * signed. Such a proof passes only if the caller knows the writer (`writer`), or asks the chain afterwards
 * (`leaveWriterToChain`). For a contract the caller needs `keys` together with `writer`, because then only the
 * checkpoint's key vouches for the root.
 *
 * Without `keys` and `writer` the result shows only that the bundle agrees with itself and with the first writer's
 * wallet.
 *
 * @throws ProofError for the first part that is wrong; InvalidInputError for a part that cannot be read;
 * UnconfirmedWriterError when the writer is unknown and `leaveWriterToChain` is not set
 */
export function verifyProofBundle(
  bundle: ProofBundle,
  parameters: VerifyProofParameters = {},
): VerifiedProof {
  const entry = readProvenEntry(bundle.entry);

  const note = parseSignedNote(bundle.checkpoint, "checkpoint");
  const checkpoint = parseCheckpoint(note.text);
  const keys = parameters.keys ?? [parseVerifierKey(bundle.verifier_key, "verifier_key")];
  if (keys.every(({ name }) => name !== checkpoint.origin))
    throw new ProofError("The checkpoint's origin is not the key's name.");
  if (!keys.some((key) => key.name === checkpoint.origin && isNoteSignedBy(note, key)))
    throw new ProofError("The checkpoint is not signed by the key.");

  const leafHash = lineLeafHash(bundle.entry);
  const proof = bundle.inclusion_proof.map((node) => fromHex(node));
  const { size, root } = checkpoint;
  if (!verifyInclusion({ leafHash, index: bundle.index, size, proof, root })) {
    throw new ProofError(`The entry is not entry ${bundle.index} of the checkpoint's ledger.`);
  }
  return {
    entry,
    index: bundle.index,
    leafHash: toHex(leafHash),
    checkpoint,
    verifierKey: bundle.verifier_key,
    ledger: bundle.ledger && checkLedger(bundle, bundle.ledger, checkpoint, note, parameters),
    transaction: bundle.anchor?.transaction ?? null,
  };
}

function checkLedger(
  bundle: ProofBundle,
  ledger: NonNullable<ProofBundle["ledger"]>,
  { origin, size, root }: Checkpoint,
  note: SignedNote,
  { keys, writer: pinned, leaveWriterToChain = false }: VerifyProofParameters,
): VerifiedLedger | null {
  const { id, chain_id: chainId, contract, first_writer: firstWriter, guardian, writer } = ledger;
  const expected = ledgerId({ chainId, contract, writer: firstWriter, guardian, origin });
  if (!bytesEqual(fromHex(id), fromHex(expected))) {
    throw new ProofError(
      "The ledger's id does not follow from its chain, contract, first writer, guardian and origin.",
    );
  }
  if (pinned !== undefined && pinned !== writer)
    throw new ProofError(`The proof is by the writer ${writer}, not by ${pinned}.`);
  const word = headSignatureOf(note, origin, writer);
  if (word === undefined && bundle.anchor === null) return null;
  if (word === undefined) throw new ProofError("The checkpoint carries no signature of the ledger's writer.");
  const head = { ledgerId: id, size: BigInt(size), root: toHex(root) };
  if (word.by === "key" && !isHeadSignedBy(writer, head, { chainId, contract }, word.signature)) {
    throw new ProofError("The ledger's writer did not sign the checkpoint's size and root.");
  }
  const rests = restsOn(word);
  if (rests === "nothing" && !leaveWriterToChain) {
    throw new UnconfirmedWriterError(
      word.by === "contract"
        ? `The writer ${writer} is a contract, and only the chain says what it signed.`
        : `The writer ${writer} is not the ledger's first writer, and only the chain shows whether it became the writer later.`,
    );
  }
  return { id, chainId, contract, firstWriter, guardian, writer, word, rests };

  function restsOn({ by }: HeadSignature): VerifiedLedger["rests"] {
    // The signature of a contract shows nothing here, so the checkpoint's key must be known.
    if (by === "contract") return pinned !== undefined && keys !== undefined ? "pinned" : "nothing";
    if (writer === firstWriter) return "id";
    return pinned === undefined ? "nothing" : "pinned";
  }
}
