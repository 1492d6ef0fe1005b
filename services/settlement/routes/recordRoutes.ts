import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Context } from "hono";
import { Hono } from "hono";
import { type InputIssue, InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { toBareHex } from "tallystick-protocol/hex";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { checkBinding } from "tallystick-protocol/records/binding";
import { parseRating } from "tallystick-protocol/records/rating";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import type { SignedRecord } from "tallystick-protocol/records/record";
import { type RecordType, recordTypeNames, recordTypeRoutes } from "tallystick-protocol/records/recordTypes";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import type { AppDependencies } from "../appDependencies.ts";
import { readSignedRecord } from "../engine/readSignedRecord.ts";
import type { SettledRecord, Validated } from "../engine/settlementEngine.ts";
import { readJson } from "../http/readJson.ts";

/** The types with their own route, and this route. */
const ROUTE_OF = new Map<string, string>([
  ...recordTypeRoutes.map(({ path, type }) => [type, path] as const),
  ["review", "/v1/reviews/{id}"],
]);
/** The types that `POST /v1/records` accepts. */
const TYPES_WITHOUT_ROUTE = recordTypeNames.filter((type) => !ROUTE_OF.has(type));

/** The unsigned keys that a rating may have beside its body. */
const BESIDE_RATING = ["rating_token", "comment"];

/**
 * Signed records: `POST /v1/listings`, `/v1/receipts`, `/v1/rate`, `/telemetry` (SHP §6, §9), `/v1/stake`,
 * `/v1/verify`, `/v1/contest` (swarm.at §11), the operator's `/v1/params`, and `/v1/records`. The last takes `{type,
 * body, signature, signer?}` of every type without its own route: an attestor's `claim`, the operator's `pulse`, the
 * records of audits (SHP §8.3), and those of the trust score and SLAs (STEWARD).
 *
 * All routes take `{body, signature, signer?}`. Listings and receipts may also have the `signature` inside the body, as
 * existing Swarmwage SDKs send them. All other bodies must have `type` and `ledger`. Otherwise the answer is 400 `unbound`,
 * `other_type` or `other_ledger`. A rating has its `rating_token` next to the body. It may also have its `comment` there:
 * the ledger keeps only its SHA-256, the `comment_hash` in the body.
 *
 * A new record is answered with 201 and `{status: "SETTLED", type, hash, index, timestamp}`. A receipt's answer also has
 * `rating_tokens: {buyer, seller}`. If the ledger has this record already, the status is 200. If it has another record for
 * the same thing, the answer is 409 with the `existing` entry. No API key is needed: the signature is enough.
 */
export function recordRoutes({ engine, metrics, recover }: AppDependencies): Hono {
  const app = new Hono();
  const settle = async (c: Context, value: PyJson, type: RecordType) => {
    const beside = type === "rating" ? BESIDE_RATING : [];
    const { record, explain } = readSignedRecord(value, type, beside, recover);
    try {
      // This check comes before the token, so that signers of the older form get this error first.
      checkBinding(record, engine.ledgerName);
      if (type === "rating") checkRatingToken(value, record);
      const outcome = await engine.settleRecord(record);
      metrics.countOutcome(type, outcomeName(outcome));
      return recordResponse(c, type, outcome);
    } catch (error) {
      metrics.countOutcome(type, error instanceof TallystickError ? error.code : "internal");
      throw explain(error);
    }
  };
  for (const { path, type } of recordTypeRoutes)
    app.post(path, async (c) => settle(c, await readJson(c.req.raw), type));
  app.post("/v1/records", async (c) => {
    const value = await readJson(c.req.raw);
    return settle(c, value, typeWithoutRoute(value));
  });
  return app;
}

/** @throws InvalidInputError naming `type`, and the route of a type that has one */
function typeWithoutRoute(value: PyJson): RecordType {
  const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
  if (!isObject)
    throw new InvalidInputError({ issues: [{ field: "body", message: "must be a JSON object" }] });
  const type = TYPES_WITHOUT_ROUTE.find((one) => one === value.type);
  if (type !== undefined) return type;
  const route = typeof value.type === "string" ? ROUTE_OF.get(value.type) : undefined;
  const message =
    route === undefined
      ? `must be one of ${TYPES_WITHOUT_ROUTE.join(", ")}`
      : `is sent to its own route, POST ${route}`;
  throw new InvalidInputError({ issues: [{ field: "type", message }] });
}

/** The result under which an outcome is counted. */
export function outcomeName(outcome: SettledRecord | Validated): string {
  return outcome.status === "SETTLED" && outcome.known ? "KNOWN" : outcome.status;
}

/** The answer to a record. */
export function recordResponse(
  c: Context,
  type: RecordType,
  outcome: SettledRecord | Validated,
  more: { [key: string]: unknown } = {},
): Response {
  if (outcome.status === "VALIDATED") return c.json({ type, ...outcome, ...more });
  const { known, ...settled } = outcome;
  const tokens = type === "receipt" && {
    rating_tokens: {
      buyer: ratingToken(settled.hash, "buyer", sha256ByNode),
      seller: ratingToken(settled.hash, "seller", sha256ByNode),
    },
  };
  return c.json({ type, ...settled, ...tokens, ...more }, known ? 200 : 201);
}

/** Checks that the token and the comment agree with the signed body. */
function checkRatingToken(value: PyJson, { body }: SignedRecord): void {
  const { rating_token: token, comment } = value as { [key: string]: PyJson };
  const { receipt, side, comment_hash: commentHash } = parseRating(body);
  const issues: InputIssue[] = [];
  if (token === undefined) issues.push({ field: "rating_token", message: "is required" });
  else if (token !== ratingToken(receipt, side)) {
    issues.push({ field: "rating_token", message: `is not the one for this receipt and the ${side}'s side` });
  }
  if (comment !== undefined) {
    if (typeof comment !== "string") issues.push({ field: "comment", message: "must be a string" });
    else if (toBareHex(sha256(utf8ToBytes(comment))) !== commentHash) {
      issues.push({ field: "body.comment_hash", message: "must be the SHA-256 of comment: 64 hex digits" });
    }
  }
  if (issues.length > 0) throw new InvalidInputError({ issues });
}
