import { fromBase64, toBase64 } from "../base64.ts";
import { InvalidInputError } from "../errors.ts";

/** The most lines of a consistency proof in a request to a witness (C2SP tlog-witness). */
export const MAX_PROOF_LINES = 63;

/**
 * The longest request that a witness reads, in UTF-16 units: a proof, a checkpoint, and a contract's signature for the
 * writer.
 */
export const MAX_WITNESS_REQUEST_LENGTH = 128_000;

/** What a witness is asked to cosign (C2SP tlog-witness, `add-checkpoint`). */
export type WitnessRequest = {
  /** The size that the witness cosigned last, 0 for none. */
  oldSize: number;
  /** The consistency proof from that size to the checkpoint (RFC 6962 §2.1.2): hashes of 32 bytes. */
  proof: Uint8Array[];
  /** The checkpoint, a signed note. */
  checkpoint: string;
};

/** The body of `POST …/add-checkpoint`. */
export function formatWitnessRequest({ oldSize, proof, checkpoint }: WitnessRequest): string {
  return `old ${oldSize}\n${proof.map((node) => `${toBase64(node)}\n`).join("")}\n${checkpoint}`;
}

/**
 * Reads the body of `POST …/add-checkpoint`. Checks its form only, and not the checkpoint or the proof.
 *
 * @throws InvalidInputError naming `old`, `proof` or `checkpoint`
 */
export function parseWitnessRequest(body: string): WitnessRequest {
  if (body.length > MAX_WITNESS_REQUEST_LENGTH)
    refuse("body", `must have at most ${MAX_WITNESS_REQUEST_LENGTH} characters`);
  const end = body.indexOf("\n\n");
  const checkpoint = end === -1 ? "" : body.slice(end + 2);
  if (checkpoint === "") refuse("checkpoint", "must follow after an empty line");
  const [old = "", ...lines] = body.slice(0, end).split("\n");
  const oldSize = Number(/^old (0|[1-9][0-9]{0,15})$/.exec(old)?.[1]);
  if (!Number.isSafeInteger(oldSize)) refuse("old", "must be `old` and a size, without leading zeroes");
  if (lines.length > MAX_PROOF_LINES) refuse("proof", `must have at most ${MAX_PROOF_LINES} lines`);
  const proof = lines.map((line) => fromBase64(line, "proof"));
  if (proof.some(({ length }) => length !== 32))
    refuse("proof", "must be hashes of 32 bytes, each on its own line");
  return { oldSize, proof, checkpoint };
}

function refuse(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message: `${message} (C2SP tlog-witness)` }] });
}
