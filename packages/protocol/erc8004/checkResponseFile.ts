import type { RecordBody } from "../json/recordBody.ts";
import {
  type ProofBundle,
  type VerifiedProof,
  type VerifyProofParameters,
  verifyProofBundle,
} from "../proof/proofBundle.ts";
import { readProvenEntry } from "../proof/provenEntry.ts";
import { checkBinding } from "../records/binding.ts";
import { recordFromPayload } from "../records/record.ts";
import { type Finding, finding, notChecked, problemsOf } from "./finding.ts";
import { parseResponseFile } from "./responseFile.ts";
import { signatureFinding } from "./signatureFinding.ts";

/** The result of checking a response file without the network, and its verified proofs, each with its field. */
export type CheckedResponseFile = { findings: Finding[]; proofs: [field: string, proof: VerifiedProof][] };

/**
 * Makes all checks of a response file that need no network. A verdict and the receipt of the judged hire must be
 * signed, and stand in the trees of signed checkpoints. Both must be about the same hire, and its buyer must be the
 * feedback's client. A note that a feedback is spam proves nothing: it is only the word of its author.
 *
 * Each wrong field becomes a finding, and no wrong field makes the function throw.
 */
export function checkResponseFile(
  content: RecordBody,
  { keys, writer }: Pick<VerifyProofParameters, "keys" | "writer"> = {},
): CheckedResponseFile {
  const findings: Finding[] = [];
  const proofs: CheckedResponseFile["proofs"] = [];
  try {
    const { verdict_proof, receipt_proof, spam, clientAddress } = parseResponseFile(content);
    if (spam !== undefined)
      return { findings: [notChecked("spam", `${spam.reason}: only the word of the responder`)], proofs };
    const client = clientAddress.address;
    for (const [field, bundle] of [
      ["verdict_proof", verdict_proof],
      ["receipt_proof", receipt_proof],
    ] as const) {
      if (bundle === undefined) continue;
      const checked = checkProof(field, bundle, { keys, writer });
      findings.push(...checked.findings);
      if (checked.proof !== undefined) proofs.push([field, checked.proof]);
    }
    const [verdict, receipt] = ["verdict_proof", "receipt_proof"].map(
      (of) => proofs.find(([it]) => it === of)?.[1],
    );
    if (receipt !== undefined)
      findings.push({
        field: "clientAddress",
        holds: true,
        detail: `${client} bought the hire that was judged`,
      });
    if (verdict === undefined) return { findings, proofs };
    if (receipt !== undefined) {
      const isOne =
        verdict.checkpoint.origin === receipt.checkpoint.origin && verdict.ledger?.id === receipt.ledger?.id;
      findings.push(
        finding(
          "verdict_proof.ledger",
          isOne,
          "verdict and receipt stand in one ledger",
          `is of ${verdict.checkpoint.origin}, and the receipt of ${receipt.checkpoint.origin}`,
        ),
      );
    }
    findings.push(
      notChecked(
        "verdict_proof.auditor",
        "whether its signer was an auditor of this hire: the node's audits say so",
      ),
    );
  } catch (error) {
    findings.push(...problemsOf(error, "file"));
  }
  return { findings, proofs };
}

function checkProof(
  field: string,
  bundle: ProofBundle,
  { keys, writer }: Pick<VerifyProofParameters, "keys" | "writer">,
): { findings: Finding[]; proof?: VerifiedProof } {
  const findings: Finding[] = [];
  try {
    const proof = verifyProofBundle(bundle, { keys, writer, leaveWriterToChain: true });
    const place = `entry ${proof.index} of ${proof.checkpoint.origin}, ${proof.checkpoint.size} entries`;
    findings.push({ field, holds: true, detail: place });
    const record = recordFromPayload(readProvenEntry(bundle.entry).payload);
    findings.push(signatureFinding(`${field}.entry`, record));
    checkBinding(record, bundle.ledger?.id ?? "local");
    return { findings, proof };
  } catch (error) {
    return { findings: [...findings, ...problemsOf(error, field)] };
  }
}
