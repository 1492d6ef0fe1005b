import { evaluateExpression } from "./evaluateExpression.ts";

/** The longest program that is interpreted, in lines. Only small programs are simple enough. */
const MAX_LINES = 50;

/** The longest output that is predicted, in characters. A short program can print a long input many times. */
const MAX_OUTPUT = 10_000_000;

type Values = { numbers: { [name: string]: number }; texts: Map<string, string> };

/**
 * How each language assigns, prints and reads. `read` matches a call that reads a line of stdin as text, `readNumber`
 * a call that reads it as a number.
 */
const GRAMMAR = {
  python: {
    assign: /^([A-Za-z_]\w{0,40})\s?=\s?([^=].*)$/,
    print: /^print\((.*)\)$/,
    comment: /^#/,
    read: /^input\(\)$/,
    readNumber: /^int\(input\(\)\)$/,
  },
  javascript: {
    assign: /^(?:const|let|var)\s([A-Za-z_]\w{0,40})\s?=\s?([^=].*)$/,
    print: /^console\.log\((.*)\)$/,
    comment: /^\/\//,
    read: /(?!)/,
    readNumber: /(?!)/,
  },
};

/**
 * Computes the output of a simple program, so that an invented output is found. The program may only read
 * lines, compute with whole numbers (`+ - *` and brackets) and print. Undefined for every other program.
 */
export function predictOutput(code: string, language: string, stdin: string): string | undefined {
  const grammar = language === "python" || language === "javascript" ? GRAMMAR[language] : undefined;
  const lines = code.split(/\r?\n/);
  if (!grammar || lines.length > MAX_LINES || code.length > 4000) return undefined;
  const input = stdin.split(/\r?\n/);
  // No line follows the last line end, so reading one more line is an error.
  if (input.at(-1) === "") input.pop();
  const values: Values = { numbers: Object.create(null), texts: new Map() };
  let output = "";
  for (const raw of lines) {
    const line = (language === "javascript" ? raw.replace(/;\s{0,9}$/, "") : raw).trimEnd();
    if (line === "" || grammar.comment.test(line)) continue;
    // In JavaScript, `++` and `--` change a variable.
    if (language === "javascript" && /\+\+|--/.test(line)) return undefined;
    const printed = grammar.print.exec(line);
    if (printed) {
      const words = (printed[1] as string).split(", ").map((part) => worthOf(part, values));
      if (words.some((word) => word === undefined)) return undefined;
      // console.log replaces %d and others in its first text by the next values.
      if (language === "javascript" && words.length > 1 && words[0]?.includes("%")) return undefined;
      if (words.reduce((sum, word = "") => sum + word.length, output.length) > MAX_OUTPUT) return undefined;
      output += `${words.join(" ")}\n`;
      continue;
    }
    const assigned = grammar.assign.exec(line);
    if (!assigned) return undefined;
    const [name, right] = assigned.slice(1) as [string, string];
    // Declaring a name twice is an error, except by `var` both times. Neither program is predicted.
    if (language === "javascript" && (name in values.numbers || values.texts.has(name))) return undefined;
    const isText = values.texts.has(right) || /^["']/.test(right);
    delete values.numbers[name];
    values.texts.delete(name);
    if (grammar.read.test(right) || grammar.readNumber.test(right)) {
      const read = input.shift();
      if (read === undefined) return undefined;
      if (grammar.read.test(right)) values.texts.set(name, read);
      else if (/^-?\d{1,9}$/.test(read)) values.numbers[name] = Number(read);
      else return undefined;
      continue;
    }
    const value = worthOf(right, values);
    if (value === undefined) return undefined;
    if (isText) values.texts.set(name, value);
    else values.numbers[name] = Number(value);
  }
  return output;
}

function worthOf(text: string, { numbers, texts }: Values): string | undefined {
  const quoted = /^(?:"([^"\\]*)"|'([^'\\]*)')$/.exec(text);
  if (quoted) return quoted[1] ?? quoted[2] ?? "";
  if (texts.has(text)) return texts.get(text);
  // There is no division, no power and no function, so whole numbers work the same in every language.
  if (!/^[\w\s+*()-]+$/.test(text) || text.includes("**")) return undefined;
  const names = text.match(/[A-Za-z_]\w*/g) ?? [];
  if (/\w\s*\(|\d[A-Za-z_.]|\b0\d/.test(text) || !names.every((name) => name in numbers)) return undefined;
  try {
    const { value, error } = evaluateExpression(text, numbers);
    // JavaScript prints a negative zero as -0.
    const isPlain = Number.isSafeInteger(value) && !Object.is(value, -0) && error === 0;
    return isPlain ? String(value) : undefined;
  } catch {
    return undefined;
  }
}
