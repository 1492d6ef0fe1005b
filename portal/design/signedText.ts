import { visibleJson } from "./format.ts";

/** The most characters of a signed body on a page. Settlement refuses larger entries. */
const MAX_CHARACTERS = 1_000_000;

/** What somebody signed, as a reader may see it: exactly, with every sign that could hide or turn a part of it written out. */
export function signedText(body: unknown): string {
  const text = visibleJson(body, 2);
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
