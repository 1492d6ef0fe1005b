import { MAX_TEXT_BYTES } from "tallystick-protocol/erc8004/loggedText";
import { InvalidInputError, invalidInputFromZod } from "tallystick-protocol/errors";
import { isHex } from "tallystick-protocol/hex";
import { paramsSchema } from "tallystick-protocol/records/params";
import type { DeriveEvent } from "./events.ts";

type Fields = { [name: string]: (value: unknown) => boolean };

const ADDRESS = /^0x[0-9a-f]{40}$/;
const HASH = /^0x[0-9a-f]{64}$/;
const AMOUNT = /^(?:0|[1-9][0-9]{0,77})$/;

const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown) => typeof value === "string";
const isFlag = (value: unknown) => typeof value === "boolean";
const isAddress = (value: unknown) => typeof value === "string" && ADDRESS.test(value);
const isHash = (value: unknown) => typeof value === "string" && HASH.test(value);
const isAmount = (value: unknown) => typeof value === "string" && AMOUNT.test(value);
const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
const isToken = (value: unknown) =>
  isObject(value) &&
  isAddress((value as { address?: unknown }).address) &&
  isCount((value as { firstBlock?: unknown }).firstBlock);
const isForm = (value: unknown) => value === "all" || value === "relevant";
const isSide = (value: unknown) => value === "in" || value === "out" || value === "spent";
const isIdentity = isAmount;
const isSigned = (value: unknown) => typeof value === "string" && /^(?:0|-?[1-9][0-9]{0,38})$/.test(value);
const isDecimals = (value: unknown) => isCount(value) && (value as number) <= 255;
/**
 * Whether a value is a stranger's text in the form that is stored: short, and without characters that harm a
 * database or a terminal.
 */
const isShortText = (value: unknown) =>
  typeof value === "string" && value.length <= MAX_TEXT_BYTES && !/[\p{Cc}\p{Cs}]/u.test(value);
const isRest = (value: unknown) =>
  isObject(value) &&
  isCount((value as { bytes?: unknown }).bytes) &&
  isHash((value as { hash?: unknown }).hash);
const isLoggedText = (value: unknown) =>
  isShortText(value) || (isRest(value) && isShortText((value as { text?: unknown }).text));
const isLoggedBytes = (value: unknown) =>
  (isHex(value) && value.length <= 2 + 2 * MAX_TEXT_BYTES) || isRest(value);
const isRegistries = (value: unknown) => {
  if (!isObject(value)) return false;
  const { identity, reputation, implementations } = value as { [name: string]: unknown };
  return (
    isAddress(identity) &&
    isAddress(reputation) &&
    identity !== reputation &&
    Array.isArray(implementations) &&
    implementations.every(isAddress)
  );
};
const orAbsent = (holds: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || holds(value);

const position: Fields = { block: isCount, time: isCount };
const onChain: Fields = { ...position, log: isCount };

const transfer: Fields = {
  ...onChain,
  token: isAddress,
  from: isAddress,
  to: isAddress,
  value: isAmount,
  tx: isHash,
};

const ofRegistry: Fields = { ...onChain, registry: isAddress, tx: isHash };
const ofIdentity: Fields = { ...ofRegistry, identity: isIdentity };
const ofFeedback: Fields = { ...ofIdentity, client: isAddress, index: isAmount };

/** The fields that each kind must have. Other fields are ignored. */
const kinds: { [kind: string]: Fields } = {
  params: {
    ...onChain,
    params: isObject,
    chainId: orAbsent(isCount),
    token: orAbsent(isToken),
    form: orAbsent(isForm),
    registries: orAbsent(isRegistries),
  },
  transfer: { ...transfer, authorized: isFlag },
  history: { ...transfer, authorized: orAbsent(isFlag) },
  count: {
    ...onChain,
    wallet: isAddress,
    side: isSide,
    transfers: (value) => isCount(value) && value !== 0,
  },
  "escrow.deposited": {
    ...onChain,
    provider: isText,
    escrow: isAddress,
    escrowId: isHash,
    hireId: isHash,
    buyer: isAddress,
    seller: isAddress,
    payee: isAddress,
    amount: isAmount,
    fee: isAmount,
    feeRecipient: isAddress,
    deadline: isCount,
    arbiter: isAddress,
    tx: isHash,
  },
  "escrow.delivered": { ...onChain, escrowId: isHash, resultHash: isHash },
  "escrow.released": { ...onChain, escrowId: isHash, toSeller: isAmount, toBuyer: isAmount, fee: isAmount },
  "escrow.refunded": { ...onChain, escrowId: isHash, by: isAddress },
  "escrow.timedOut": { ...onChain, escrowId: isHash, delivered: isFlag },
  record: {
    ...onChain,
    ledger: isHash,
    seq: isCount,
    hash: isText,
    type: isText,
    body: isObject,
    signer: isAddress,
    signature: isText,
  },
  "identity.registered": { ...ofIdentity, owner: isAddress, uri: isLoggedText },
  "identity.uriUpdated": { ...ofIdentity, by: isAddress, uri: isLoggedText },
  "identity.metadataSet": { ...ofIdentity, key: isLoggedText, value: isLoggedBytes },
  "identity.transferred": { ...ofIdentity, from: isAddress, to: isAddress },
  "feedback.given": {
    ...ofFeedback,
    value: isSigned,
    decimals: isDecimals,
    tag1: isLoggedText,
    tag2: isLoggedText,
    endpoint: isLoggedText,
    uri: isLoggedText,
    hash: isHash,
  },
  "feedback.revoked": ofFeedback,
  "feedback.responded": { ...ofFeedback, responder: isAddress, uri: isLoggedText, hash: isHash },
  "registry.upgraded": { ...ofRegistry, implementation: isAddress },
  tick: { ...position, hash: orAbsent(isHash) },
};

/** The error message for a field that has only a few possible values. */
const CHOICES: { [name: string]: string } = {
  form: "must be all or relevant",
  side: "must be in, out or spent",
};

/** The fields of each kind as pairs. They are made once, because a log has many lines. */
const checks = new Map(Object.entries(kinds).map(([kind, fields]) => [kind, Object.entries(fields)]));

/**
 * Reads one line of an event log.
 *
 * @throws InvalidInputError naming the field that is missing or of the wrong form
 */
export function parseEvent(line: string): DeriveEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch (cause) {
    throw invalid("", `is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
  if (!isObject(event)) throw invalid("", "must be an object");
  const values = event as { [name: string]: unknown };
  const fields = typeof values.kind === "string" ? checks.get(values.kind) : undefined;
  if (fields === undefined) throw invalid("kind", `must be one of ${Object.keys(kinds).join(", ")}`);
  for (const [name, holds] of fields) {
    if (holds(values[name])) continue;
    throw invalid(name, CHOICES[name] ?? `is missing or malformed in a ${values.kind} event`);
  }
  if (values.kind !== "params") return values as DeriveEvent;
  const params = paramsSchema.safeParse(values.params);
  if (!params.success) throw invalidInputFromZod(params.error, "params", "invalid_event");
  return { ...values, params: params.data } as DeriveEvent;
}

function invalid(field: string, message: string): InvalidInputError {
  return new InvalidInputError({ issues: [{ field, message }], code: "invalid_event" });
}
