import { type Address, addressSchema, ZERO_ADDRESS } from "tallystick-protocol/address";
import { atomicSchema } from "tallystick-protocol/amount";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { type HireJson, readHireJson, toHireJson } from "tallystick-protocol/escrow/hireJson";
import { type Hex, isHex } from "tallystick-protocol/hex";
import * as z from "zod";
import type { DepositAuthorization } from "./signEscrow.ts";

/**
 * The x402 scheme for a payment into a HireEscrow: `payTo` is the escrow, and the buyer signs EIP-3009
 * `ReceiveWithAuthorization` with the escrowId of the terms as nonce. Clients that know only `exact` ignore it.
 */
export const ESCROW_SCHEME = "hire-escrow";

/** How long a buyer has to verify, in milliseconds (SHP §7.3.3). */
export const VERIFICATION_WINDOW_MS = { sync: 30_000, async: 300_000 } as const;

/** What the seller's terms say, in addition to amount and escrow. */
export const escrowExtraSchema = z.looseObject({
  seller: addressSchema,
  payee: addressSchema.default(ZERO_ADDRESS),
  fee: atomicSchema.default("0"),
  fee_recipient: addressSchema.default(ZERO_ADDRESS),
});

/** A buyer's payment into an escrow: the terms it fixes, and its signature. */
export type EscrowPayload = { hire: Hire; authorization: DepositAuthorization };

const payloadSchema = z.looseObject({
  hire: z.unknown(),
  valid_after: atomicSchema.default("0"),
  valid_before: atomicSchema,
  signature: z.string().refine((text) => isHex(text), "must be hex"),
});

/** @throws InvalidInputError, or ZodError for what is no payload at all */
export function readEscrowPayload(payload: unknown): EscrowPayload {
  const { hire, valid_after, valid_before, signature } = payloadSchema.parse(payload);
  return {
    hire: readHireJson(hire, "payload.hire"),
    authorization: {
      validAfter: BigInt(valid_after),
      validBefore: BigInt(valid_before),
      signature: signature as Hex,
    },
  };
}

/** The payload as it is sent. */
export function toEscrowPayload({ hire, authorization }: EscrowPayload): {
  hire: HireJson;
  valid_after: string;
  valid_before: string;
  signature: Hex;
} {
  return {
    hire: toHireJson(hire),
    valid_after: String(authorization.validAfter),
    valid_before: String(authorization.validBefore),
    signature: authorization.signature,
  };
}

/** The payee as the terms write it: zero means the seller itself. */
export function payeeInTerms(seller: Address, payee: Address | undefined): Address {
  return payee === undefined || payee === seller ? ZERO_ADDRESS : payee;
}
