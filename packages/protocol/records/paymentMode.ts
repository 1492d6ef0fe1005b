import * as z from "zod";

/**
 * How a hire is settled (SHP §7.3.1): `direct`, `platform_escrow:<provider id>` or `custom_escrow:<url>`. A provider id
 * has at most 31 bytes, because the escrow contract stores it in one word. The mode is part of database keys, which
 * have at most some 2,700 bytes. So a URL must have only ASCII characters: other characters take more bytes.
 */
export const paymentModeSchema = z
  .string()
  .max(2048)
  .regex(
    /^(?:direct|platform_escrow:[A-Za-z0-9][A-Za-z0-9._-]{0,30}|custom_escrow:https?:\/\/[\x21-\x7e]+)$/,
    "must be direct, platform_escrow:<id> or custom_escrow:<url>",
  );

/** The id of an escrow's provider. A contract with another id could never be named by a payment mode. */
export const providerIdSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,30}$/,
    "must be 1 to 31 bytes: letters, digits, dots, hyphens and underscores, the first a letter or a digit",
  );

/** The provider id of a `platform_escrow:` mode, undefined for the other modes. */
export function escrowProviderOf(paymentMode: string): string | undefined {
  return paymentMode.startsWith("platform_escrow:")
    ? paymentMode.slice("platform_escrow:".length)
    : undefined;
}
