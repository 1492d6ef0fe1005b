import { addressSchema } from "tallystick-protocol/address";
import { type InputIssue, InvalidInputError } from "tallystick-protocol/errors";
import { type Hex, isHex } from "tallystick-protocol/hex";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { type RecordBody, recordBodyFromPyJson } from "tallystick-protocol/json/recordBody";
import { isBoundType } from "tallystick-protocol/records/binding";
import { recoverBodySigner, type SignedRecord } from "tallystick-protocol/records/record";
import { type RecoverPublicKey, recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";

/** A record as it was sent, and the paths of its fields in that request, for errors. */
export type ReadRecord = { record: SignedRecord; explain: (error: unknown) => unknown };

type PyObject = { [key: string]: PyJson };

const ENVELOPE = ["body", "signature", "signer", "type"];

/** Types whose signer is the `agent_id` in their body. */
const AGENT_TYPES: readonly string[] = ["listing", "receipt"];

/**
 * Reads a signed record in its envelope `{body, signature, signer?, type?}`. Listings and receipts may also be
 * flat, as existing Swarmwage SDKs send them: `signature` is then one of the body's own keys, and covers all
 * other keys. The signer is `signer`, or else the body's `agent_id`, or else the account that is recovered from
 * the signature.
 *
 * @param beside keys of the envelope that are neither signed nor stored, such as a rating's token
 * @param recover how a signer that is not named is recovered; in plain JavaScript unless given
 * @throws InvalidInputError naming the field by its path in the request
 */
export function readSignedRecord(
  value: PyJson,
  type: string,
  beside: readonly string[] = [],
  recover: RecoverPublicKey = recoverByNoble,
): ReadRecord {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidInputError({ issues: [{ field: "body", message: "must be a JSON object" }] });
  }
  if (isObject(value.body)) return readEnvelope(value, type, beside, recover);
  if (!isBoundType(type)) return readFlat(value, type, recover);
  if (type === "rating" && value.rating_token !== undefined && value.signature === undefined)
    throw unsignedRating();
  throw new InvalidInputError({
    issues: [{ field: "body", message: "must be an object: what is signed, with its type and ledger" }],
    code: "unbound",
    hint: `Send {body, signature}; body has type "${type}" and ledger, as GET /v1/ledger/latest names it, beside its own fields.`,
  });
}

/**
 * Clients of v0.1 send `{rating_token, stars, latency_ms, comment}` without a signature. A token shows who
 * may rate, but not who did.
 */
function unsignedRating(): InvalidInputError {
  return new InvalidInputError({
    code: "unsigned_rating",
    message:
      "The hire's buyer or seller must sign a rating. Neither signed this one, so it was not accepted.",
    issues: [{ field: "body", message: "is required: the rating, as its wallet signs it" }],
    hint:
      'Send {rating_token, comment?, body, signature}, with body = {type: "rating", ledger, receipt, side, stars, latency_ms?, comment_hash?}: ' +
      "ledger is what GET /v1/ledger/latest names, and receipt is the receipt_hash of the hire's answer. rate() of this project's SDK does it.",
  });
}

function isObject(value: PyJson | undefined): value is PyObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function readEnvelope(
  value: PyObject,
  type: string,
  beside: readonly string[],
  recover: RecoverPublicKey,
): ReadRecord {
  const issues: InputIssue[] = [];
  for (const key of Object.keys(value)) {
    if (!ENVELOPE.includes(key) && !beside.includes(key))
      issues.push({ field: key, message: "is not signed; move it into body" });
  }
  if (value.type !== undefined && value.type !== type)
    issues.push({ field: "type", message: `must be ${type} here` });
  const body = recordBodyFromPyJson(value.body ?? null, "body");
  return {
    record: complete(body, value.signer, value.signature, type, { issues, prefix: "body.", recover }),
    explain: (error) => error,
  };
}

function readFlat({ signature, ...rest }: PyObject, type: string, recover: RecoverPublicKey): ReadRecord {
  const body = recordBodyFromPyJson(rest);
  return {
    record: complete(body, undefined, signature, type, { issues: [], prefix: "", recover }),
    explain: withoutBodyPrefix,
  };
}

function complete(
  body: RecordBody,
  signer: PyJson | undefined,
  signature: PyJson | undefined,
  type: string,
  { issues, prefix, recover }: { issues: InputIssue[]; prefix: string; recover: RecoverPublicKey },
): SignedRecord {
  const named = signer ?? body.agent_id;
  // Records of agents must have agent_id. The error says so.
  const isRecovered = named === undefined && !AGENT_TYPES.includes(type) && isHex(signature, 65);
  const address = addressSchema.safeParse(
    isRecovered ? recoverBodySigner(body, signature as Hex, "signature", recover) : named,
  );
  if (!address.success) {
    const message = address.error.issues[0]?.message ?? "must be an address";
    const byAgent = signer === undefined && AGENT_TYPES.includes(type);
    issues.push({ field: byAgent ? `${prefix}agent_id` : "signer", message });
  }
  if (!isHex(signature))
    issues.push({ field: "signature", message: "must be 0x and an even number of hex digits" });
  if (!address.success || issues.length > 0) throw new InvalidInputError({ issues });
  return { type, body, signer: address.data, signature: signature as Hex };
}

/** In the flat form there is no `body`: its fields are the request's own. */
function withoutBodyPrefix(error: unknown): unknown {
  if (!(error instanceof InvalidInputError)) return error;
  const issues = error.issues.map(({ field, message }) => ({ field: field.replace(/^body\./, ""), message }));
  const { code, hint, cause } = error;
  return new InvalidInputError({ issues, code, cause, ...(hint !== undefined && { hint }) });
}
