import type { PaymentPayload, PaymentRequired, PaymentRequirements, SettleResponse } from "@x402/core/types";
import { toBase64 } from "tallystick-protocol/base64";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import { networkId, type PaymentNetwork, shortNetworkName } from "../chain/paymentNetwork.ts";

/** A seller's terms in the form of x402 v2. Version 1 is converted when it is read or written. */
export type { PaymentPayload, PaymentRequired, PaymentRequirements, SettleResponse };

/** Limits of the JSON in an x402 header. Terms and payments have only a few levels and values. */
const HEADER_LIMITS = { maxLength: 65_536, maxDepth: 32, maxValues: 1_000 };

type Headers = { get: (name: string) => string | null | undefined };

/** The headers of a 402 (x402 v2). */
export function requiredHeaders(required: PaymentRequired): { [name: string]: string } {
  return { "PAYMENT-REQUIRED": toHeader(required), "Cache-Control": "no-store" };
}

/**
 * The body for x402 v1 clients. It has only options of the scheme `exact`, which they know. They refuse an
 * `outputSchema` that is null, so it is left out.
 */
export function requiredBodyV1(required: PaymentRequired, network: PaymentNetwork): object {
  return {
    x402Version: 1,
    error: required.error ?? "Payment required",
    accepts: required.accepts
      .filter(({ scheme }) => scheme === "exact")
      .map(({ amount, scheme, payTo, maxTimeoutSeconds, asset, extra }) => ({
        scheme,
        network: shortNetworkName(network),
        maxAmountRequired: amount,
        resource: required.resource.url,
        description: required.resource.description ?? "",
        mimeType: "application/json",
        payTo,
        maxTimeoutSeconds,
        asset,
        extra,
      })),
  };
}

/** Reads a seller's terms from a 402's header (v2) or body (v1). Undefined when neither has them. */
export function readRequired(
  headers: Headers,
  body: unknown,
): { required: PaymentRequired; version: 1 | 2 } | undefined {
  const header = headers.get("PAYMENT-REQUIRED");
  if (header) {
    const asked = readHeader(header);
    if (!isObject(asked) || !Array.isArray(asked.accepts)) return undefined;
    const resource = isObject(asked.resource) ? asked.resource : {};
    const required = {
      ...asked,
      resource: { ...resource, url: textOr(resource.url) },
      accepts: asked.accepts.filter(isObject),
    } as unknown as PaymentRequired;
    return { required, version: 2 };
  }
  if (!isObject(body) || body.x402Version !== 1 || !Array.isArray(body.accepts)) return undefined;
  const accepts = body.accepts.filter(isObject).map(
    (option) =>
      ({
        scheme: option.scheme,
        network: longNetworkName(option.network),
        asset: option.asset,
        amount: option.maxAmountRequired,
        payTo: option.payTo,
        maxTimeoutSeconds: option.maxTimeoutSeconds,
        extra: isObject(option.extra) ? option.extra : {},
      }) as PaymentRequirements,
  );
  const resource = { url: textOr((body.accepts[0] as { resource?: unknown } | null | undefined)?.resource) };
  return { required: { x402Version: 1, resource, accepts }, version: 1 };
}

/** The headers that carry a payment. Version 1 has the scheme next to the payload, not the accepted terms. */
export function paymentHeaders(
  payment: PaymentPayload,
  version: 1 | 2,
  network: PaymentNetwork,
): { [name: string]: string } {
  if (version === 2) return { "PAYMENT-SIGNATURE": toHeader(payment) };
  const { payload, accepted } = payment;
  const v1 = { x402Version: 1, scheme: accepted.scheme, network: shortNetworkName(network), payload };
  return { "X-PAYMENT": toHeader(v1) };
}

/**
 * Reads the payment of a request; undefined when it has none. A v1 payment does not name the accepted terms, so
 * the seller's present terms are used.
 *
 * @param requirements what this seller asks for
 * @returns `"malformed"` when there is a header that cannot be read
 */
export function readPayment(
  headers: Headers,
  requirements: PaymentRequirements,
  network: PaymentNetwork,
): PaymentPayload | "malformed" | undefined {
  const header = headers.get("PAYMENT-SIGNATURE") ?? headers.get("X-PAYMENT");
  if (!header) return undefined;
  const payment = readHeader(header);
  if (!isObject(payment) || !isObject(payment.payload)) return "malformed";
  if (payment.x402Version === 2) {
    return isObject(payment.accepted) ? (payment as unknown as PaymentPayload) : "malformed";
  }
  if (payment.x402Version !== 1 || longNetworkName(payment.network) !== networkId(network))
    return "malformed";
  if (payment.scheme !== requirements.scheme) return "malformed";
  return { x402Version: 2, accepted: requirements, payload: payment.payload };
}

/** The headers that say how a payment was settled, for both versions. */
export function settledHeaders(settled: SettleResponse): { [name: string]: string } {
  const header = toHeader(settled);
  return { "PAYMENT-RESPONSE": header, "X-PAYMENT-RESPONSE": header };
}

/** Reads how the payment was settled, as the seller says; undefined when nothing readable is there. */
export function readSettled(headers: Headers): SettleResponse | undefined {
  const header = headers.get("PAYMENT-RESPONSE") ?? headers.get("X-PAYMENT-RESPONSE");
  const settled = header ? readHeader(header) : undefined;
  return isObject(settled) ? (settled as unknown as SettleResponse) : undefined;
}

function longNetworkName(name: unknown): string {
  if (name === "base") return "eip155:8453";
  if (name === "base-sepolia") return "eip155:84532";
  return textOr(name);
}

/**
 * A text of a stranger; empty for anything else. `String(value)` would use a `toString` that the stranger put into
 * the JSON.
 */
function textOr(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Writes JSON as x402 puts it into a header: UTF-8 in base64. */
function toHeader(value: object): string {
  return toBase64(new TextEncoder().encode(JSON.stringify(value)));
}

/** Reads the base64 JSON of a header; undefined if it is malformed or too long. */
function readHeader(header: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(header), (character) => character.charCodeAt(0));
    return readForeignJson(new TextDecoder().decode(bytes), HEADER_LIMITS);
  } catch {
    return undefined;
  }
}
