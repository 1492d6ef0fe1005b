import { InvalidInputError } from "tallystick-protocol/errors";

/**
 * Reads a position or a size from a query; undefined if it is missing.
 *
 * @throws InvalidInputError naming `field`
 */
export function positionOf(text: string | undefined, field: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[0-9]{1,15}$/.test(text)) {
    throw new InvalidInputError({
      issues: [{ field, message: "must be a whole number from 0, with at most 15 digits" }],
    });
  }
  return Number(text);
}
