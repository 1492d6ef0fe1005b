import { chainIdOfNetwork } from "tallystick-protocol/erc8004/chainIdOfNetwork";
import { InvalidInputError } from "tallystick-protocol/errors";
import { canonicalBody, type RecordBody } from "tallystick-protocol/json/recordBody";
import { checkBinding, isBoundType, isUnbound } from "tallystick-protocol/records/binding";
import { parseClaim } from "tallystick-protocol/records/claim";
import { parseConsensus } from "tallystick-protocol/records/consensus";
import { checkListing, checkPayeeSignature, type Listing } from "tallystick-protocol/records/listing";
import { parseParams } from "tallystick-protocol/records/params";
import { parsePulse } from "tallystick-protocol/records/pulse";
import { parseRating } from "tallystick-protocol/records/rating";
import { checkBuyerSignature, checkReceipt, completedAtSeconds } from "tallystick-protocol/records/receipt";
import { isSignedBy } from "tallystick-protocol/records/record";
import { parseReview } from "tallystick-protocol/records/review";
import { parseTelemetry } from "tallystick-protocol/records/telemetry";
import type { ApplyContext } from "./applyContext.ts";
import { auditReaders } from "./audits/auditReaders.ts";
import type { Reading } from "./audits/reading.ts";
import { claimSettled } from "./claims.ts";
import type { RecordEvent } from "./events.ts";
import { listingId, listingSettled, listingsOf } from "./listings.ts";
import { listLength } from "./lists.ts";
import { paramsSettled } from "./paramsRecord.ts";
import { ratingId, ratingSettled } from "./ratings.ts";
import { receiptSettled } from "./receipts.ts";
import { readOutcomes } from "./settlementTrust/readOutcomes.ts";
import { stewardReaders } from "./steward/readStewardRecord.ts";
import type { Row } from "./tables.ts";
import { telemetrySettled } from "./telemetry.ts";

/** Why a record has no effect. */
class InvalidRecord extends Error {}

/**
 * Applies a record of a followed ledger. A record that fails its checks is kept as `invalid` with the reason, and
 * changes nothing else. A record of a type without meaning for reputation is kept as `unread`.
 */
export function recordSettled(context: ApplyContext, event: RecordEvent): void {
  let effect: (() => void) | null = null;
  let reason: string | null = null;
  try {
    effect = readRecord(context, event);
  } catch (error) {
    if (!(error instanceof InvalidRecord) && !(error instanceof InvalidInputError)) throw error;
    reason = error.message;
  }
  context.store.insert("record", {
    id: `${event.ledger}/${event.seq}`,
    ledger: event.ledger,
    seq: event.seq,
    hash: event.hash,
    type: event.type,
    signer: event.signer,
    status: reason !== null ? "invalid" : effect === null ? "unread" : "valid",
    reason,
    block: context.at.block,
    time: context.at.time,
    log: event.log,
  });
  effect?.();
}

/** Checks a record, and returns a function that applies it; null when its type has no meaning for reputation. */
function readRecord(context: ApplyContext, event: RecordEvent): (() => void) | null {
  if (event.error !== undefined) throw new InvalidRecord(event.error);
  checkLedger(context, event);
  checkForm(context, event);
  checkSignature(context, event);
  noteForm(context, event);
  const record = { type: event.type, body: event.body, signer: event.signer, signature: event.signature };
  switch (event.type) {
    case "listing": {
      const body = checkListing(record);
      checkListingCount(context, body);
      const payeeSigned =
        isPresent(event, "payee_signature", context) || checkPayeeSignature(event.body, context.recover);
      const { hash, seq } = event;
      return () => listingSettled(context, { hash, seq, raw: event.body, body, payeeSigned });
    }
    case "receipt": {
      const body = checkReceipt(record);
      if (context.store.get("receipt", event.hash) !== null) {
        throw new InvalidRecord("the same entry counted in another ledger before");
      }
      const { chainId } = context.state;
      if (chainId !== null && chainIdOfNetwork(body.network) !== chainId)
        throw new InvalidRecord(`body.network must be this chain, eip155:${chainId}`);
      if (body.payee === body.buyer) throw new InvalidRecord("body.payee must not be the buyer");
      const buyerSigned =
        isPresent(event, "buyer_signature", context) || checkBuyerSignature(event.body, context.recover);
      const completedAt = completedAtSeconds(body);
      return () => receiptSettled(context, { hash: event.hash, body, completedAt, buyerSigned });
    }
    case "rating": {
      const body = parseRating(event.body);
      const receipt = knownReceipt(context, body.receipt);
      requireSigner(
        event,
        body.side === "buyer" ? receipt.buyer : receipt.agent,
        `the receipt's ${body.side}`,
      );
      if (context.store.get("rating", ratingId(receipt.id, body.side)) !== null) {
        throw new InvalidRecord(`the ${body.side} rated this receipt before`);
      }
      return () => ratingSettled(context, receipt, body);
    }
    case "telemetry": {
      const body = parseTelemetry(event.body);
      const receipt = knownReceipt(context, body.receipt);
      requireSigner(event, receipt.buyer, "the receipt's buyer");
      if (context.store.get("telemetry", receipt.id) !== null) {
        throw new InvalidRecord("the buyer sent telemetry for this receipt before");
      }
      const { latency_ms: latencyMs = null, verification, failure = null } = body;
      const allPassed = verification?.all_passed ?? null;
      return () => telemetrySettled(context, receipt, { latencyMs, allPassed, failure });
    }
    case "claim": {
      const body = parseClaim(event.body);
      if (!context.params.claimAttestors.some((it) => it === event.signer)) {
        throw new InvalidRecord(`signer ${event.signer} is not a claim attestor`);
      }
      const signed = `${event.signer}/${context.sha256Hex(canonicalBody(event.body), "utf8")}`;
      if (context.store.get("seenClaim", signed) !== null) {
        throw new InvalidRecord("the attestor made this statement before; another nonce makes a new one");
      }
      return () => claimSettled(context, event.hash, body, signed);
    }
    case "params": {
      if (event.signer !== context.params.operator)
        throw new InvalidRecord(`signer ${event.signer} is not the operator`);
      const params = parseParams(event.body);
      if (params.version <= context.params.version) {
        throw new InvalidRecord(`body.version must be above ${context.params.version}`);
      }
      return () => paramsSettled(context, params);
    }
    default: {
      const reader =
        auditReaders.get(event.type) ??
        stewardReaders.get(event.type) ??
        (event.type === "outcomes" ? readOutcomes : undefined);
      return reader === undefined ? unread(event) : required(reader(context, event));
    }
  }
}

/** The types without meaning for reputation, and how to read them. */
const UNREAD: { [type: string]: ((body: RecordBody) => unknown) | undefined } = {
  stake: parseConsensus,
  verify: parseConsensus,
  contest: parseConsensus,
  review: parseReview,
  pulse: parsePulse,
};

/** The parameters say which ledgers may carry which types. If they name no ledger, all ledgers of the log count. */
function checkLedger({ params }: ApplyContext, event: RecordEvent): void {
  if (Object.keys(params.ledgers).length === 0) return;
  const types = params.ledgers[event.ledger];
  if (types === undefined) throw new InvalidRecord(`ledger ${event.ledger} is not followed`);
  if (!types.includes(event.type)) {
    throw new InvalidRecord(`ledger ${event.ledger} may not carry records of type ${event.type}`);
  }
}

/**
 * Refuses a record whose signed body names another type or ledger. A body in the older form names neither. It counts in
 * a ledger until that ledger has its first record in the bound form, or the parameters name the ledger as bound.
 */
function checkForm(context: ApplyContext, event: RecordEvent): void {
  const { type, body, ledger } = event;
  if (!isBoundType(type)) return;
  if (!isUnbound(body)) {
    checkBinding({ type, body }, ledger);
    return;
  }
  const isOver = context.params.boundLedgers.includes(ledger) || hasBoundRecords(context, ledger);
  if (isOver) throw new InvalidRecord("unbound");
}

/** Notes a ledger's first record in the bound form. From then on the older form does not count in this ledger. */
function noteForm(context: ApplyContext, { type, body, ledger, seq }: RecordEvent): void {
  if (!isBoundType(type) || isUnbound(body) || hasBoundRecords(context, ledger)) return;
  context.store.insert("boundLedger", { id: ledger, seq });
}

function hasBoundRecords(context: ApplyContext, ledger: string): boolean {
  return context.store.get("boundLedger", ledger) !== null;
}

/** The function that applies a record of audits, of trust scores or of outcomes. Throws if it must have no effect. */
function required(reading: Reading): () => void {
  if (typeof reading === "string") throw new InvalidRecord(reading);
  return reading;
}

/** Checks only the form of a record. A record in the older form is not checked, because it had no fixed form. */
function unread({ type, body }: RecordEvent): null {
  if (Object.hasOwn(UNREAD, type) && !isUnbound(body)) UNREAD[type]?.(body);
  return null;
}

/** Each new listing is compared with all others of its agent, so their number is limited. */
function checkListingCount(context: ApplyContext, body: Listing): void {
  if (context.store.get("listing", listingId(body)) !== null) return;
  const count = listLength(context.store, listingsOf(body.agent_id));
  if (count >= context.params.maxListings) {
    throw new InvalidRecord(`the agent has ${count} listings, which is the most that one may have`);
  }
}

function checkSignature(context: ApplyContext, event: RecordEvent): void {
  if (context.trustSignatures || event.erc1271 === true) return;
  if (!isSignedBy(event.body, event.signature, event.signer, context.recover)) {
    throw new InvalidRecord(`signature is not ${event.signer}'s over the body`);
  }
}

function knownReceipt(context: ApplyContext, id: string): Row<"receipt"> {
  const receipt = context.store.get("receipt", id);
  if (receipt === null) throw new InvalidRecord(`body.receipt ${id} is no valid receipt settled before`);
  return receipt;
}

function requireSigner(event: RecordEvent, signer: string, who: string): void {
  if (event.signer !== signer) throw new InvalidRecord(`signer must be ${who}, ${signer}`);
}

/** Whether a nested signature is accepted without a check. */
function isPresent(event: RecordEvent, key: string, context: ApplyContext): boolean {
  return context.trustSignatures && typeof event.body[key] === "string";
}
