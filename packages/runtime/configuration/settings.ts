import { addressSchema } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { z } from "zod";

/** An address in upper or lower case. It becomes lower case. */
export const addressSetting = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(addressSchema);

export const privateKeySetting = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits")
  .transform((text) => text as Hex);

export const httpSetting = z.url({
  protocol: /^https?$/,
  message: "must be an http or https address",
});

/** A whole number from 0 on, with a limited number of digits. */
export const wholeNumberSetting = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^[0-9]{1,${digits}}$`), "must be a whole number")
    .transform(Number);

export const portSetting = wholeNumberSetting(9).refine((port) => port < 65_536, "must be below 65536");

/**
 * `TRUST_PROXY`: the number of proxies in front of the server, one behind the other. `true` means 1.
 *
 * @param whom what the message calls the server, such as `this witness`
 */
export const proxiesSetting = (whom: string) =>
  z
    .enum(["0", "1", "2", "3", "4", "false", "true"], {
      error: `must be the number of proxies in front of ${whom}, 0 to 4`,
    })
    .transform((text) => (text === "true" ? 1 : text === "false" ? 0 : Number(text)));
