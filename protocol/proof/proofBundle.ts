import { z } from "zod";
import { type Address, addressSchema } from "../address.ts";
import { InvalidInputError, invalidInputFromZod, TallystickError } from "../errors.ts";
import { bytesEqual, fromHex, type Hex, toHex } from "../hex.ts";
import { ledgerId } from "../ledger/anchor.ts";
import { entryHash, entryLine, type LedgerEntry, parseEntryLine } from "../ledger/entry.ts";
import { lineLeafHash } from "../merkle/entryLeafHash.ts";
import { verifyInclusion } from "../merkle/verifyInclusion.ts";
import { type Checkpoint, parseCheckpoint } from "../note/checkpoint.ts";
import { headSignatureOf, isHeadSignedBy } from "../note/headSignature.ts";
import {
  isNoteSignedBy,
  type NoteVerifierKey,
  parseSignedNote,
  parseVerifierKey,
} from "../note/signedNote.ts";

const hex32 = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/, "must be 0x and 64 lower-case hex digits")
  .transform((text) => text as Hex);

/**
 * A `.proof` file: one entry of a ledger, and everything that shows it is there. JSON.
 *
 * `entry` is the canonical line as text, `index` its position from 0, `inclusion_proof` its path in the tree of
 * `checkpoint` (a C2SP signed note), `verifier_key` the `vkey` that signed it. `anchor` says where the same size and
 * root stand on chain; null before they do. The ledger's id follows from its first writer and its guardian; `writer` is
 * who signed the checkpoint's head.
 */
export const proofBundleSchema = z.strictObject({
  format: z.literal("tallystick/proof/v1", { error: 'must be "tallystick/proof/v1"' }),
  entry: z.string(),
  index: z.int().min(0),
  inclusion_proof: z.array(hex32).max(64),
  checkpoint: z.string(),
  verifier_key: z.string(),
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

/** What a proof shows, once it was checked. */
export type VerifiedProof = {
  entry: LedgerEntry;
  index: number;
  leafHash: Hex;
  checkpoint: Checkpoint;
  /** The key whose signature on the checkpoint was checked. */
  verifierKey: string;
  /**
   * The ledger on chain; its writer's own `Head` signature over the checkpoint's size and root was checked. Null when it
   * is not anchored, or was not when the proof was made: the writer gives its word only for what the contract holds.
   */
  ledger: { id: Hex; chainId: number; contract: Address; firstWriter: Address; writer: Address } | null;
  /** The transaction said to have anchored it: to be looked up on chain. */
  transaction: Hex | null;
};

/** The proof does not hold. `message` says which part. */
export class ProofError extends TallystickError {
  constructor(message: string) {
    super({ code: "proof_invalid", message, hint: "The file was changed, or it proves something else." });
  }
}

/**
 * Reads a `.proof` file.
 *
 * @throws InvalidInputError naming every field at fault
 */
export function parseProofBundle(text: string): ProofBundle {
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
 * Checks everything about a proof that needs no network: the entry hashes to what it says, it stands in the tree of the
 * checkpoint, the checkpoint is signed, and the ledger's id belongs to the writer that signed the head.
 *
 * @param trusted the verifier key to believe; without it the bundle's own, which shows only that the bundle agrees with
 * itself and with the writer's wallet
 * @throws ProofError for the first part that does not hold; InvalidInputError for one that cannot be read
 */
export function verifyProofBundle(bundle: ProofBundle, trusted?: NoteVerifierKey): VerifiedProof {
  const entry = parseEntryLine(bundle.entry);
  if (entryLine(entry) !== bundle.entry) throw new ProofError("The entry is not a canonical ledger line.");
  if (entryHash(entry) !== entry.currentHash)
    throw new ProofError("The entry's current_hash is not its hash.");

  const note = parseSignedNote(bundle.checkpoint, "checkpoint");
  const checkpoint = parseCheckpoint(note.text);
  const key = trusted ?? parseVerifierKey(bundle.verifier_key, "verifier_key");
  if (key.name !== checkpoint.origin) throw new ProofError("The checkpoint's origin is not the key's name.");
  if (!isNoteSignedBy(note, key)) throw new ProofError("The checkpoint is not signed by the key.");

  const leafHash = lineLeafHash(bundle.entry);
  const proof = bundle.inclusion_proof.map((node) => fromHex(node));
  const { size, root } = checkpoint;
  if (!verifyInclusion({ leafHash, index: bundle.index, size, proof, root })) {
    throw new ProofError(`The entry is not entry ${bundle.index} of the ledger that the checkpoint is of.`);
  }
  return {
    entry,
    index: bundle.index,
    leafHash: toHex(leafHash),
    checkpoint,
    verifierKey: bundle.verifier_key,
    ledger: bundle.ledger && checkLedger(bundle, bundle.ledger, checkpoint),
    transaction: bundle.anchor?.transaction ?? null,
  };
}

function checkLedger(
  bundle: ProofBundle,
  ledger: NonNullable<ProofBundle["ledger"]>,
  { origin, size, root }: Checkpoint,
): VerifiedProof["ledger"] {
  const { id, chain_id: chainId, contract, first_writer: firstWriter, guardian, writer } = ledger;
  const expected = ledgerId({ chainId, contract, writer: firstWriter, guardian, origin });
  if (!bytesEqual(fromHex(id), fromHex(expected))) {
    throw new ProofError(
      "The ledger's id is not that of its chain, contract, first writer, guardian and origin.",
    );
  }
  const signature = headSignatureOf(parseSignedNote(bundle.checkpoint, "checkpoint"), origin, writer);
  if (signature === undefined && bundle.anchor === null) return null;
  if (signature === undefined)
    throw new ProofError("The checkpoint carries no signature of the ledger's writer.");
  const head = { ledgerId: id, size: BigInt(size), root: toHex(root) };
  if (!isHeadSignedBy(writer, head, { chainId, contract }, signature)) {
    throw new ProofError("The ledger's writer did not sign the checkpoint's size and root.");
  }
  return { id, chainId, contract, firstWriter, writer };
}
