import type { Address } from "../address.ts";
import { fromHex } from "../hex.ts";
import type { RecordBody, RecordJson } from "../json/recordBody.ts";
import { lineLeafHash } from "../merkle/entryLeafHash.ts";
import { verifyInclusion } from "../merkle/verifyInclusion.ts";
import type { NoteVerifierKey } from "../note/signedNote.ts";
import { type VerifiedProof, verifyProofBundle } from "../proof/proofBundle.ts";
import { checkBinding } from "../records/binding.ts";
import { accountIdSchema } from "./accountId.ts";
import { checkResponseFile } from "./checkResponseFile.ts";
import { type FeedbackFile, feedbackContent, feedbackFileSchema, readHire } from "./feedbackFile.ts";
import { type Finding, finding, notChecked, problemsOf } from "./finding.ts";
import { readJsonFile } from "./jsonFile.ts";
import { RESPONSE_FORMAT } from "./responseFile.ts";
import { signatureFinding } from "./signatureFinding.ts";

/** The result of checking a feedback file without the network. */
export type CheckedFeedbackFile = {
  /** Every check, in the order of the file. The file is good if no check has `holds: false`. */
  findings: Finding[];
  /** Absent when the form of the file is unknown. */
  file?: FeedbackFile;
  /** The verified proof of the receipt. The chain must still confirm it. Absent when the proof is wrong. */
  proof?: VerifiedProof;
  /** Only for a response file: its verified proofs, each with the name of its field. */
  responseProofs?: [field: string, proof: VerifiedProof][];
};

export type CheckFeedbackParameters = {
  /** The hash that the chain has for the file, if it is known: keccak-256 of its bytes. */
  hash?: string | undefined;
  /** The ledger's verifier keys, from a source other than the file. */
  keys?: readonly NoteVerifierKey[] | undefined;
  /** The writer of the ledger, from a source other than the file. */
  writer?: Address | undefined;
};

/**
 * Makes all checks of a feedback file that need no network. The file's bytes must have the hash. Receipt and rating
 * must be signed, and stand in the tree of one signed checkpoint. Every other field must agree with the receipt and
 * the rating.
 *
 * A text that is a response file goes to `checkResponseFile`.
 *
 * Each wrong field becomes a finding, and no wrong field makes the function throw. Without `keys` and `writer` the
 * findings show only that the file agrees with itself, because anybody can make a ledger.
 */
export function checkFeedbackFile(
  text: string,
  { hash, keys, writer }: CheckFeedbackParameters = {},
): CheckedFeedbackFile {
  let content: RecordBody;
  const findings: Finding[] = [];
  try {
    const read = readJsonFile(text);
    content = read.content;
    findings.push(
      hash === undefined
        ? notChecked("file", `has the hash ${read.hash}; no hash was given to compare it with`)
        : finding(
            "file",
            read.hash === hash.toLowerCase(),
            `has the hash ${hash}`,
            `has the hash ${read.hash}, not ${hash}`,
          ),
    );
  } catch (error) {
    return { findings: problemsOf(error, "file") };
  }
  if (content.format === RESPONSE_FORMAT) {
    const { findings: found, proofs } = checkResponseFile(content, { keys, writer });
    return { findings: [...findings, ...found], responseProofs: proofs };
  }
  const parsed = feedbackFileSchema.safeParse(content);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) =>
      wrong(path.map(String).join(".") || "file", message),
    );
    return { findings: [...findings, ...issues] };
  }
  const file = parsed.data;
  const { receipt_proof: receiptProof, rating_proof: ratingProof } = file.tallystick;
  let proof: VerifiedProof | undefined;
  try {
    proof = verifyProofBundle(receiptProof, { keys, writer, leaveWriterToChain: true });
    findings.push(
      right(
        "tallystick.receipt_proof",
        `entry ${proof.index} of ${proof.checkpoint.origin}, ${proof.checkpoint.size} entries`,
      ),
    );
    findings.push(ratingStands(file, proof));
  } catch (error) {
    findings.push(...problemsOf(error, "tallystick.receipt_proof"));
  }
  try {
    const hire = readHire({ receiptProof, ratingProof });
    findings.push(signatureFinding("tallystick.receipt_proof.entry", hire.receiptRecord));
    findings.push(signatureFinding("tallystick.rating_proof.entry", hire.ratingRecord));
    checkBinding(hire.ratingRecord, receiptProof.ledger?.id ?? "local");
    const { chainId, address } = file.agentRegistry;
    const expected = feedbackContent({
      agentRegistry: { chainId, address },
      agentId: file.agentId,
      receiptProof,
      ratingProof,
    });
    findings.push(...compare(content, expected));
  } catch (error) {
    findings.push(...problemsOf(error, "tallystick"));
  }
  return { findings, file, ...(proof && { proof }) };
}

function ratingStands({ tallystick }: FeedbackFile, { checkpoint }: VerifiedProof): Finding {
  const { entry, index, inclusion_proof } = tallystick.rating_proof;
  const proof = inclusion_proof.map((node) => fromHex(node));
  const { size, root } = checkpoint;
  const holds = verifyInclusion({ leafHash: lineLeafHash(entry), index, size, proof, root });
  const place = `entry ${index} of the same checkpoint`;
  return finding("tallystick.rating_proof", holds, place, `is not ${place}`);
}

/** Compares every field of the file, except the proofs, with what follows from the proofs. */
function compare(content: RecordBody, expected: RecordBody): Finding[] {
  const flat = fieldsOf(expected);
  const given = new Map(fieldsOf(content));
  return flat.map(([field, value]) => {
    const found = given.get(field);
    return finding(
      field,
      isSame(found, value),
      String(found),
      `is ${String(found)}, and the ledger says ${String(value)}`,
    );
  });
}

function fieldsOf(body: RecordBody, prefix = ""): [string, RecordJson][] {
  return Object.entries(body).flatMap(([key, value]): [string, RecordJson][] => {
    if (key === "receipt_proof" || key === "rating_proof") return [];
    const field = prefix + key;
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? fieldsOf(value, `${field}.`)
      : [[field, value]];
  });
}

/** Whether two values are the same. The addresses in account ids may differ in upper and lower case. */
function isSame(a: RecordJson | undefined, b: RecordJson): boolean {
  if (a === b) return true;
  const [first, second] = [accountIdSchema.safeParse(a), accountIdSchema.safeParse(b)];
  return (
    first.success &&
    second.success &&
    first.data.chainId === second.data.chainId &&
    first.data.address === second.data.address
  );
}

const right = (field: string, detail: string): Finding => ({ field, holds: true, detail });
const wrong = (field: string, detail: string): Finding => ({ field, holds: false, detail });
