const SEGMENT = "[a-z0-9][a-z0-9_-]*";

/**
 * Grammar of a capability id (SHP §5.1): at least two lower-case segments with dots between them. Each segment begins
 * with a letter or digit. The id has 3 to 128 characters. Examples: `text.translate.en.it`, `custom.acme.ocr`.
 */
export const CAPABILITY_PATTERN = new RegExp(`^${SEGMENT}(?:\\.${SEGMENT})+$`);
export const CAPABILITY_LENGTHS = { least: 3, most: 128 } as const;

/** Whether `text` is a capability id by the grammar of SHP §5.1. */
export function isCapability(text: string): boolean {
  // A text of this pattern has the least length already.
  return text.length <= CAPABILITY_LENGTHS.most && CAPABILITY_PATTERN.test(text);
}

/** Whether an id says that it is outside the standard taxonomy: it begins with `custom.` (SHP §5.1). */
export function isCustomCapability(id: string): boolean {
  return id.startsWith("custom.") && isCapability(id);
}
