import * as z from "zod";

const SEGMENT = "[a-z0-9][a-z0-9_-]*";
const CAPABILITY = new RegExp(`^${SEGMENT}(?:\\.${SEGMENT})+$`);

/**
 * Grammar of a capability id (SHP §5.1): lower-case dot-separated segments, at least two of them,
 * each starting with a letter or digit, 3 to 128 characters in all. `text.translate.en.it`, `custom.acme.ocr`.
 */
export const capabilitySchema = z
  .string()
  .min(3, "must have at least 3 characters")
  .max(128, "must have at most 128 characters")
  .regex(CAPABILITY, "must be lower-case segments joined by dots, like text.translate.en.it");

/** Whether `text` is a capability id by the grammar of SHP §5.1. */
export function isCapability(text: string): boolean {
  return text.length >= 3 && text.length <= 128 && CAPABILITY.test(text);
}

/** Whether an id is outside of the standard taxonomy by its own word: it begins with `custom.` (SHP §5.1). */
export function isCustomCapability(id: string): boolean {
  return id.startsWith("custom.") && isCapability(id);
}
