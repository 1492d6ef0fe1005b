import { type Address, addressSchema } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";

/**
 * Reads an address that somebody typed, in upper or lower case.
 *
 * @param field the name of the argument or option
 * @throws InvalidInputError naming it
 */
export function readAddress(text: string, field: string): Address {
  const { data } = addressSchema.safeParse(text.toLowerCase());
  if (data !== undefined) return data;
  throw new InvalidInputError({ issues: [{ field, message: "must be 0x and 40 hex digits" }] });
}
