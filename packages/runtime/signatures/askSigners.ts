import { type SignedRecord, signedText } from "tallystick-protocol/records/record";
import type { KnownSigner, KnownSigners } from "tallystick-protocol/signatures/knownSigners";
import type { Question, SignatureThreads } from "./signatureThreads.ts";

/** Record types whose bodies contain a second signature, with the name of its field. */
const NESTED: { [type: string]: string } = {
  listing: "payee_signature",
  receipt: "buyer_signature",
  endorsement: "agent_signature",
};

/**
 * Lets threads read the signatures of records. The signers that they find go into `known`, where a later check finds them. A
 * signer that is not there is recovered by that check. Never rejects.
 */
export async function askSigners(
  records: readonly SignedRecord[],
  threads: Pick<SignatureThreads, "ask">,
  known: KnownSigners,
): Promise<void> {
  const questions: Question[] = [];
  const remember: ((signer: KnownSigner["signer"]) => void)[] = [];
  for (const record of records) {
    for (const { signature, key } of signaturesOf(record)) {
      const text = textOf(record, key);
      if (text === null) continue;
      questions.push([text, signature]);
      remember.push((signer) => known.add(record.body, { signature, key, signer }));
    }
  }
  if (questions.length === 0) return;
  const readings = await threads.ask(questions);
  for (const [n, { signer }] of (readings ?? []).entries()) remember[n]?.(signer);
}

function signaturesOf({ type, body, signature }: SignedRecord): Omit<KnownSigner, "signer">[] {
  const key = Object.hasOwn(NESTED, type) ? NESTED[type] : undefined;
  const nested = key !== undefined && Object.hasOwn(body, key) ? body[key] : undefined;
  return typeof nested === "string" ? [{ signature }, { signature: nested, key }] : [{ signature }];
}

/** The text that a signature covers; null if the body cannot be signed. */
function textOf({ body }: SignedRecord, key: string | undefined): string | null {
  try {
    return signedText(body, key);
  } catch {
    return null;
  }
}
