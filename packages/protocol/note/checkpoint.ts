import { fromBase64, toBase64 } from "../base64.ts";
import { InvalidInputError } from "../errors.ts";

/** The state of a log at one size (C2SP tlog-checkpoint). `root` is the RFC 6962 root, 32 bytes. */
export type Checkpoint = { origin: string; size: number; root: Uint8Array };

/** The text of a checkpoint: three lines with origin, size and base 64 root. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

/**
 * Reads the text of a checkpoint. Extension lines after the root are ignored.
 *
 * @throws InvalidInputError naming `field`
 */
export function parseCheckpoint(text: string, field = "checkpoint"): Checkpoint {
  const [origin = "", size = "", encoded = ""] = text.split("\n");
  const root = fromBase64(encoded, field);
  const isSize = /^(?:0|[1-9][0-9]{0,15})$/.test(size) && Number.isSafeInteger(Number(size));
  if (!text.endsWith("\n") || origin === "" || !isSize || root.length !== 32) {
    const message = "must be three lines: origin, size and base 64 root (C2SP tlog-checkpoint)";
    throw new InvalidInputError({ issues: [{ field, message }] });
  }
  return { origin, size: Number(size), root };
}
