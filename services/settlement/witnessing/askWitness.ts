import { TallystickError } from "tallystick-protocol/errors";
import { cosignedAt } from "tallystick-protocol/note/cosignature";
import { type NoteSignature, parseSignedNote } from "tallystick-protocol/note/signedNote";
import type { PolicyWitness } from "tallystick-protocol/note/trustPolicy";
import { formatWitnessRequest, type WitnessRequest } from "tallystick-protocol/note/witnessRequest";
import { readBytes } from "tallystick-runtime/http/readBytes";
import type { Fetch } from "tallystick-sdk/requestService";

/** The largest answer of a witness that is read, in bytes: a few signature lines. */
const MAX_BYTES = 16_384;

/** How far a witness's clock may be from ours, in seconds. */
const CLOCK_SECONDS = 600;

/** The answer of a witness to a checkpoint. */
export type WitnessAnswer =
  /** The witness's verified signature over the checkpoint's text. */
  | { kind: "cosigned"; signatures: NoteSignature[]; time: number }
  /**
   * The proof does not begin at the size that the witness last cosigned. `size` is the size that it last
   * cosigned.
   */
  | { kind: "knows"; size: number }
  /** The witness has the same size with another root, or the checkpoint does not continue the witness's log. */
  | { kind: "contradicts" };

export type AskWitnessParameters = {
  witness: PolicyWitness & { url: string };
  request: WitnessRequest;
  /** The checkpoint's size. */
  size: number;
  fetch: Fetch;
  /** Ends the wait. */
  signal: AbortSignal;
  /** Unix seconds. */
  now: number;
};

/**
 * Asks a witness to cosign a checkpoint (C2SP tlog-witness).
 *
 * @throws TallystickError `witness_unavailable`: it could not be reached, or its answer is of no use
 */
export async function askWitness({
  witness,
  request,
  size,
  fetch,
  signal,
  now,
}: AskWitnessParameters): Promise<WitnessAnswer> {
  const body = formatWitnessRequest(request);
  let status: number;
  let type: string;
  let text: string;
  try {
    const response = await fetch(`${witness.url.replace(/\/$/, "")}/add-checkpoint`, {
      method: "POST",
      headers: { "content-type": "text/plain; charset=utf-8" },
      body,
      redirect: "error",
      signal,
    });
    status = response.status;
    type = response.headers.get("content-type") ?? "";
    const bytes = await readBytes(response, MAX_BYTES);
    if (bytes === undefined) throw unavailable(witness, `it answered more than ${MAX_BYTES} bytes`);
    text = bytes.toString("utf8");
  } catch (cause) {
    if (cause instanceof TallystickError) throw cause;
    // Strangers read this reason, and the text of an error may have the words of others. So it is only in the log.
    throw unavailable(witness, signal.aborted ? "it took too long" : "it gave no whole answer", cause);
  }
  if (status === 200) return readCosignature(witness, request.checkpoint, text, now);
  // Another root at the same size is 409 in the first edition of the protocol, and 422 since.
  const isSame = request.oldSize === size;
  if (status === 409) {
    const known = type === "text/x.tlog.size" ? readSize(text) : undefined;
    if (known !== undefined && !(isSame && known === size)) return { kind: "knows", size: known };
    if (isSame) return { kind: "contradicts" };
  }
  // Every log continues the empty log. So this refusal has another reason.
  if (status === 422 && request.oldSize > 0) return { kind: "contradicts" };
  throw unavailable(witness, `it answered ${status}`);
}

function readSize(text: string): number | undefined {
  const size = Number(/^(0|[1-9][0-9]{0,15})\n$/.exec(text)?.[1] ?? Number.NaN);
  return Number.isSafeInteger(size) ? size : undefined;
}

/** The signatures of this witness. Other lines of the answer are ignored. */
function readCosignature(
  witness: PolicyWitness,
  checkpoint: string,
  answer: string,
  now: number,
): WitnessAnswer {
  const { text } = parseSignedNote(checkpoint, "checkpoint");
  try {
    const { signatures } = parseSignedNote(`${text}\n${answer}`, "cosignature");
    for (const signature of signatures) {
      const time = cosignedAt({ text, signatures: [signature] }, witness.key);
      if (time === undefined) continue;
      if (Math.abs(time - now) > CLOCK_SECONDS)
        throw unavailable(witness, `its clock differs from ours by ${Math.round(time - now)} s`);
      return { kind: "cosigned", signatures: [signature], time };
    }
  } catch (cause) {
    if (cause instanceof TallystickError && cause.code === "witness_unavailable") throw cause;
    throw unavailable(witness, "its answer is no signature line", cause);
  }
  throw unavailable(witness, "nothing in its answer is a good signature of its key");
}

function unavailable({ name }: PolicyWitness, reason: string, cause?: unknown): TallystickError {
  return new TallystickError({
    code: "witness_unavailable",
    message: `The witness ${name} has not cosigned: ${reason}.`,
    hint: "The service asks again. Check its address and its key in WITNESS_POLICY.",
    cause,
  });
}
