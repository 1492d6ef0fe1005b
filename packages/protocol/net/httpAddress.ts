/** An http or https address, as far as its host. */
export type HttpAddress = {
  isHttps: boolean;
  /** Lower case. IPv6 in brackets and in its short form. A `xn--` label stays as it is. */
  hostname: string;
  /** The host name, and the port if the scheme has another. */
  host: string;
};

/** Scheme, host and port, and everything else. A text with a user or a password does not match. */
const FORM = /^(https?):\/\/(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]+)(?::([0-9]*))?(?:[/?#].*)?$/s;

const MAX_PORT = 65_535;

/**
 * Reads an http or https address without user and password; undefined if it has another form.
 *
 * The `URL` of the platform does not decide this. It maps hosts by the Unicode tables of its version, so two versions
 * disagree about hosts outside of ASCII and about `xn--` labels. Records are valid or invalid by the host, and the
 * digest contains it, so all platforms must agree. For an ASCII host without `xn--`, the answer is the same as that of
 * `URL`, if there is an answer.
 */
export function readHttpAddress(text: string): HttpAddress | undefined {
  const [, scheme, name, digits = ""] = /[\s\\]/.test(text) ? [] : (FORM.exec(text) ?? []);
  if (scheme === undefined || name === undefined) return undefined;
  const hostname = name.startsWith("[") ? shortIpv6(name.slice(1, -1)) : readName(name.toLowerCase());
  const port = digits === "" ? undefined : Number(digits);
  if (hostname === undefined || (port !== undefined && port > MAX_PORT)) return undefined;
  const isHttps = scheme === "https";
  const isUsual = port === undefined || port === (isHttps ? 443 : 80);
  return { isHttps, hostname, host: isUsual ? hostname : `${hostname}:${port}` };
}

/**
 * A name, or an IPv4 address of four decimal parts. Other numbers are refused, because `URL` reads them as addresses.
 */
function readName(name: string): string | undefined {
  if (IPV4.test(name)) return name;
  const labels = name.split(".");
  if (labels.at(-1) === "") labels.pop();
  return /^(?:[0-9]+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "") ? undefined : name;
}

const BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const IPV4 = new RegExp(`^${BYTE}(?:\\.${BYTE}){3}$`);

/** An IPv6 address in the form of RFC 5952; undefined if the text is none. */
function shortIpv6(text: string): string | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = halves.map((half, n) => wordsOf(half, n === halves.length - 1));
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined;
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const words = tail === undefined ? head : [...head, ...Array<number>(missing).fill(0), ...tail];
  const run = longestZeros(words);
  const hex = (part: number[]) => part.map((word) => word.toString(16)).join(":");
  if (run.length < 2) return `[${hex(words)}]`;
  return `[${hex(words.slice(0, run.start))}::${hex(words.slice(run.start + run.length))}]`;
}

/** The 16-bit words of one side of `::`. The last two words of an address may be written as an IPv4 address. */
function wordsOf(text: string, isLast: boolean): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const words: number[] = [];
  for (const [n, part] of parts.entries()) {
    if (isLast && n === parts.length - 1 && IPV4.test(part)) {
      const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
      words.push(a * 256 + b, c * 256 + d);
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) words.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return words;
}

/** The first of the longest runs of zeros. */
function longestZeros(words: number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < words.length; start++) {
    let end = start;
    while (words[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
  }
  return best;
}
