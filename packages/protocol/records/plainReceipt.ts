import { isCapability } from "../capability.ts";
import { isHex } from "../hex.ts";
import type { RecordBody, RecordJson } from "../json/recordBody.ts";
import { toSeconds } from "./completedAt.ts";

const ADDRESS = /^0x[0-9a-f]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;
/** All numbers of 77 digits are below 2^256. */
const AMOUNT = /^(?:0|[1-9][0-9]{0,76})$/;

const isAddress = (value: RecordJson) => typeof value === "string" && ADDRESS.test(value);
const isHash = (value: RecordJson) => typeof value === "string" && HASH.test(value);
const isCount = (value: RecordJson) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: RecordJson, most = 64) =>
  typeof value === "string" && value.length > 0 && value.length <= most;

const REQUIRED: { [field: string]: (value: RecordJson) => boolean } = {
  agent_id: isAddress,
  buyer: isAddress,
  capability: (value) => typeof value === "string" && isCapability(value),
  hire_id: (value) => isText(value, 128),
  tx_hash: isHash,
  amount_usdc_atomic: (value) => typeof value === "string" && AMOUNT.test(value),
  network: (value) => isText(value),
  completed_at: isTime,
  protocol_version: (value) => isText(value),
  verification: isVerification,
};

const FIELDS = new Map(
  Object.entries({
    ...REQUIRED,
    log_index: isCount,
    payment_mode: (value: RecordJson) => value === "direct",
    escrow_provider: (value: RecordJson) => value === null || isText(value),
    escrow_id: (value: RecordJson) => value === null || isHash(value),
    latency_ms: isCount,
    verification_version: (value: RecordJson) => isText(value),
    payee: isAddress,
    params_hash: isHash,
    result_hash: isHash,
    buyer_signature: (value: RecordJson) => isHex(value) && value.length > 2,
  }),
);

/**
 * Whether a body is a receipt in the form that most programs write: it has only known fields, and `receiptSchema`
 * accepts each of them unchanged. This check is four times as fast as the schema. The schema decides about every
 * other body, and says what is wrong with it.
 */
export function isPlainReceipt(body: RecordBody): boolean {
  for (const field in body) if (FIELDS.get(field)?.(body[field] ?? null) !== true) return false;
  for (const field in REQUIRED) if (body[field] === undefined) return false;
  return true;
}

function isTime(value: RecordJson): boolean {
  return (typeof value === "number" || typeof value === "string") && toSeconds(value) !== undefined;
}

function isVerification(value: RecordJson): boolean {
  if (!isObject(value)) return false;
  for (const key in value) if (key !== "all_passed" && key !== "checks") return false;
  const { all_passed, checks } = value;
  if (typeof all_passed !== "boolean" || !isObject(checks)) return false;
  for (const name in checks) if (typeof checks[name] !== "boolean") return false;
  return !Object.hasOwn(checks, "__proto__");
}

function isObject(value: RecordJson | undefined): value is { [key: string]: RecordJson } {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}
