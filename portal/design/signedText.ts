import { visibleJson } from "./format.ts";

/** The most characters of a signed body on a page. Settlement refuses larger entries. */
const MAX_CHARACTERS = 1_000_000;

/**
 * A signed body as a page shows it: exactly, with an escape for each character that could hide text or change its
 * direction.
 */
export function signedText(body: unknown): string {
  const text = visibleJson(body, 2);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
