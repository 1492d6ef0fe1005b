/**
 * Characters that control a terminal, or change the direction of a text: C0 and C1 controls, line and paragraph
 * separators, and the marks of bidirectional text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** A text on one line that cannot control a terminal. A stranger may have written a part of it. */
export function plainText(text: string): string {
  return text.replace(CONTROL, escapeOf);
}

/** A text of several lines that cannot control a terminal. */
export function plainLines(text: string): string {
  return text.replace(CONTROL, (sign) => (sign === "\n" ? sign : escapeOf(sign)));
}

/**
 * A value as JSON that cannot control a terminal. JSON itself escapes only the C0 controls. Whoever parses the text gets
 * the same value.
 *
 * @param indent spaces of each level; without it all is on one line
 */
export function plainJson(value: unknown, indent?: number): string {
  return plainLines(JSON.stringify(value, null, indent));
}

/** Escapes a character as JSON does. So a text in JSON keeps its value. */
function escapeOf(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
