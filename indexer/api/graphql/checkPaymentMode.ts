import { paymentModeSchema } from "tallystick-protocol/records/paymentMode";
import { ANY_PLATFORM_ESCROW } from "../rows/listings.ts";
import { queryError } from "./errors.ts";

/**
 * Checks that a filter is a payment mode that listings may have, or stands for any platform escrow.
 *
 * @throws GraphQLError `INVALID_ARGUMENT`
 */
export function checkPaymentMode(mode: string | null | undefined): void {
  if (mode === null || mode === undefined || mode === ANY_PLATFORM_ESCROW) return;
  if (paymentModeSchema.safeParse(mode).success && !mode.includes("\0")) return;
  throw queryError(
    "INVALID_ARGUMENT",
    "paymentMode must be direct, platform_escrow:<id>, platform_escrow:* or custom_escrow:<url>.",
  );
}
