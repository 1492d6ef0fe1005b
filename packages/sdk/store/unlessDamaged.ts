import { TallystickError } from "tallystick-protocol/errors";

/**
 * The value that a store gives for a key; undefined if this value is damaged, or cannot be read. Any other error is thrown:
 * it may be one of the whole disk, and pass.
 *
 * @param onDamaged called with the error, which names the file
 */
export async function unlessDamaged<T>(
  read: Promise<T>,
  onDamaged: (error: TallystickError) => void = () => {},
): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (!(error instanceof TallystickError) || error.code !== "unreadable_value") throw error;
    onDamaged(error);
    return undefined;
  }
}
