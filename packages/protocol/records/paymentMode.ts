import * as z from "zod";

/**
 * How a hire is settled (SHP §7.3.1): `direct`, `platform_escrow:<provider id>` (at most 31 bytes, as the escrow
 * contract stores it) or `custom_escrow:<https url>`.
 */
export const paymentModeSchema = z
  .string()
  .max(2048)
  .regex(
    /^(?:direct|platform_escrow:[A-Za-z0-9][A-Za-z0-9._-]{0,30}|custom_escrow:https?:\/\/\S+)$/,
    "must be direct, platform_escrow:<id> or custom_escrow:<url>",
  );

/** The provider id of a `platform_escrow:` mode, undefined for the other modes. */
export function escrowProviderOf(paymentMode: string): string | undefined {
  return paymentMode.startsWith("platform_escrow:")
    ? paymentMode.slice("platform_escrow:".length)
    : undefined;
}
