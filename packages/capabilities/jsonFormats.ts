const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,18})?(z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;
const UUID = /^(urn:uuid:)?[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const IPV4 = /^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
const MAILBOX = /^[a-z0-9!#$%&'*+/=?^_`{|}~-][a-z0-9.!#$%&'*+/=?^_`{|}~-]{0,63}$/i;

/** The longest text that can have one of the formats. Longer texts never fit. */
const MAX_LENGTH = 320;

function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const date = new Date(Date.UTC(2000, month - 1, day));
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isEmail(text: string): boolean {
  const parts = text.split("@");
  const [name = "", host = ""] = parts;
  const isNamed = MAILBOX.test(name) && !name.endsWith(".") && !name.includes("..");
  return parts.length === 2 && isNamed && host.split(".").every((label) => LABEL.test(label));
}

const CHECKS: { readonly [format: string]: (text: string) => boolean } = {
  date: isDate,
  time: (text) => TIME.test(text),
  "date-time": (text) =>
    /[t ]/i.test(text[10] ?? "") && isDate(text.slice(0, 10)) && TIME.test(text.slice(11)),
  email: isEmail,
  ipv4: (text) => IPV4.test(text),
  uuid: (text) => UUID.test(text),
};

/** The formats of JSON Schema that are checked. Other formats have no effect (JSON Schema Validation §7). */
export const JSON_FORMATS: readonly string[] = Object.keys(CHECKS);

/**
 * Whether a text has a format; true for formats that are not checked. It takes time in proportion to the length of
 * the text.
 */
export function hasFormat(text: string, format: string): boolean {
  const check = Object.hasOwn(CHECKS, format) ? CHECKS[format] : undefined;
  return check === undefined || (text.length <= MAX_LENGTH && check(text));
}
