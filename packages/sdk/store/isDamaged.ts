import { TallystickError } from "tallystick-protocol/errors";

/**
 * Whether an error of a store says that the value of this key is damaged. Another error may be one of the whole disk, and
 * pass.
 */
export function isDamaged(error: unknown): boolean {
  return error instanceof TallystickError && error.code === "unreadable_value";
}
