import { addressSchema } from "../../protocol/address.ts";
import { type InputIssue, InvalidInputError } from "../../protocol/errors.ts";
import { type Hex, isHex } from "../../protocol/hex.ts";
import type { PyJson } from "../../protocol/json/pythonJson.ts";
import { type RecordBody, recordBodyFromPyJson } from "../../protocol/json/recordBody.ts";
import { recoverBodySigner, type SignedRecord } from "../../protocol/records/record.ts";
import { type RecoverPublicKey, recoverByNoble } from "../../protocol/signatures/recoverPublicKey.ts";
import type { RecordType } from "./recordRules.ts";

/** A record as it was sent, and how to name its fields in errors as the sender knows them. */
export type ReadRecord = { record: SignedRecord; explain: (error: unknown) => unknown };

type PyObject = { [key: string]: PyJson };

const ENVELOPE = ["body", "signature", "signer", "type"];

/** Types whose signer is the `agent_id` in their body. */
const AGENT_TYPES: readonly RecordType[] = ["listing", "receipt"];

/**
 * Reads a signed record in either of its forms: the envelope `{body, signature, signer?, type?}`, or flat, the body's
 * own keys with `signature` among them, as existing Swarmwage SDKs send listings and receipts (the signature then is
 * over everything but itself). Without `signer` it is the body's `agent_id`, and without that whoever's key it was.
 *
 * @param beside keys of the envelope that are not signed and not kept, such as a rating's token
 * @param recover how a signer that is not named is recovered; in plain JavaScript unless given
 * @throws InvalidInputError naming the field by the path it has in the request
 */
export function readSignedRecord(
  value: PyJson,
  type: RecordType,
  beside: readonly string[] = [],
  recover: RecoverPublicKey = recoverByNoble,
): ReadRecord {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidInputError({ issues: [{ field: "body", message: "must be a JSON object" }] });
  }
  return isObject(value.body) ? readEnvelope(value, type, beside, recover) : readFlat(value, type, recover);
}

function isObject(value: PyJson | undefined): value is PyObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function readEnvelope(
  value: PyObject,
  type: RecordType,
  beside: readonly string[],
  recover: RecoverPublicKey,
): ReadRecord {
  const issues: InputIssue[] = [];
  for (const key of Object.keys(value)) {
    if (!ENVELOPE.includes(key) && !beside.includes(key))
      issues.push({ field: key, message: "is not signed; it belongs into body" });
  }
  if (value.type !== undefined && value.type !== type)
    issues.push({ field: "type", message: `must be ${type} here` });
  const body = recordBodyFromPyJson(value.body ?? null, "body");
  return {
    record: complete(body, value.signer, value.signature, type, { issues, prefix: "body.", recover }),
    explain: (error) => error,
  };
}

function readFlat({ signature, ...rest }: PyObject, type: RecordType, recover: RecoverPublicKey): ReadRecord {
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
  type: RecordType,
  { issues, prefix, recover }: { issues: InputIssue[]; prefix: string; recover: RecoverPublicKey },
): SignedRecord {
  const named = signer ?? body.agent_id;
  // The types that agents sign have agent_id, and say so when it is missing.
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
