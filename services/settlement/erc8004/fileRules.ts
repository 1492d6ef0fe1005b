import type { Address } from "tallystick-protocol/address";
import { checkFeedbackFile } from "tallystick-protocol/erc8004/checkFeedbackFile";
import { FEEDBACK_FORMAT } from "tallystick-protocol/erc8004/feedbackFile";
import { type JsonFile, readJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { parseRegistrationFile, REGISTRATION_TYPE } from "tallystick-protocol/erc8004/registrationFile";
import { parseResponseFile, RESPONSE_FORMAT } from "tallystick-protocol/erc8004/responseFile";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { NoteVerifierKey } from "tallystick-protocol/note/signedNote";
import { verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { FileKind } from "./fileStore.ts";

/** The ledger of this service: its name and its keys. */
export type OwnLedger = { ledger: LedgerName; keys: readonly NoteVerifierKey[] };

/** A file that `signer` asks this service to keep. */
export type JudgedFile = { file: JsonFile; kind: FileKind; subject: string };

/**
 * Checks a file that somebody asks this service to keep. It must be a file of ERC-8004 that agrees with this
 * ledger. A feedback must be the signer's own, and its receipt and its rating must be in this ledger. A
 * verdict in a response, and the receipt of its hire, must be in this ledger too.
 *
 * @throws InvalidInputError naming every field that does not hold
 */
export function judgeFile(text: string, signer: Address, own: OwnLedger): JudgedFile {
  const { content, ...file } = readJsonFile(text);
  const ours = Object(content.tallystick) as RecordBody;
  if (ours.format === FEEDBACK_FORMAT) return judgeFeedback(file, signer, own);
  if (content.format === RESPONSE_FORMAT) return judgeResponse(file, content, signer, own);
  if (content.type === REGISTRATION_TYPE) {
    parseRegistrationFile(content);
    return { file, kind: "registration", subject: signer };
  }
  throw refusal([
    {
      field: "file",
      message: "must be a registration, a feedback or a response as docs/erc8004.md describes them",
    },
  ]);
}

function judgeFeedback(file: JsonFile, signer: Address, { ledger, keys }: OwnLedger): JudgedFile {
  const checked = checkFeedbackFile(file.text, { hash: file.hash, keys });
  const issues = checked.findings
    .filter(({ holds }) => holds === false)
    .map(({ field, detail }) => ({ field: `file.${field}`, message: detail }));
  if (issues.length > 0 || checked.file === undefined) throw refusal(issues);
  const { tallystick, proofOfPayment } = checked.file;
  if (tallystick.ledger !== ledger)
    throw refusal([{ field: "file.tallystick.ledger", message: `must be ${ledger}, this ledger` }]);
  if (proofOfPayment.fromAddress !== signer)
    throw refusal([{ field: "signer", message: `must be the buyer, ${proofOfPayment.fromAddress}` }]);
  return { file, kind: "feedback", subject: tallystick.receipt };
}

function judgeResponse(
  file: JsonFile,
  content: RecordBody,
  signer: Address,
  { ledger, keys }: OwnLedger,
): JudgedFile {
  const { verdict_proof, receipt_proof } = parseResponseFile(content);
  for (const [name, proof] of Object.entries({ verdict_proof, receipt_proof })) {
    if (proof === undefined) continue;
    verifyProofBundle(proof, { keys, leaveWriterToChain: true });
    if ((proof.ledger?.id ?? "local") !== ledger)
      throw refusal([{ field: `file.${name}.ledger`, message: `must be ${ledger}, this ledger` }]);
  }
  return { file, kind: "response", subject: signer };
}

function refusal(issues: InputIssue[]): InvalidInputError {
  return new InvalidInputError({ code: "file_refused", issues });
}
