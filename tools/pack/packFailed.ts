import { TallystickError } from "tallystick-protocol/errors";

export function packFailed(message: string): TallystickError {
  return new TallystickError({ code: "pack_failed", message: `The packages could not be made: ${message}` });
}
