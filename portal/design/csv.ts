/**
 * Rows as CSV (RFC 4180). Cells contain text from strangers, so a text that a spreadsheet would run as a
 * formula gets a quote in front.
 */
export function csvOf(rows: readonly (readonly (string | number | null)[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/**
 * Where a spreadsheet could begin a formula: at the start of a text, and after a character at which some spreadsheets
 * divide cells. A formula begins with a sign of normal or of full width. A spreadsheet whose decimal sign is a comma
 * divides cells at `;`, even between quotes.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠\t\r])/g;

function cellOf(value: string | number | null): string {
  if (value === null) return "";
  if (typeof value === "number") return String(value);
  if (/^-?\d+(\.\d+)?$/.test(value)) return value;
  const text = value.replace(FORMULA, "'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
