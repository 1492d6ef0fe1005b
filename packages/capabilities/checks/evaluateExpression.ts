/** The value of an expression, and the largest intermediate number, which limits the rounding error. */
export type Evaluation = { value: number; largest: number };

const CONSTANTS: { [name: string]: number } = { pi: Math.PI, e: Math.E, tau: 2 * Math.PI };

const FUNCTIONS: { [name: string]: { least: number; most: number; run: (...values: number[]) => number } } = {
  ...Object.fromEntries(
    (
      [
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "sqrt",
        "cbrt",
        "abs",
        "floor",
        "ceil",
      ] as const
    ).map((name) => [name, { least: 1, most: 1, run: (value: number) => Math[name](value) }]),
  ),
  ln: { least: 1, most: 1, run: (value) => Math.log(value) },
  log2: { least: 1, most: 1, run: (value) => Math.log2(value) },
  log10: { least: 1, most: 1, run: (value) => Math.log10(value) },
  atan2: { least: 2, most: 2, run: (y, x) => Math.atan2(y, x) },
  pow: { least: 2, most: 2, run: (base, exponent) => base ** exponent },
  hypot: { least: 1, most: 16, run: (...values) => Math.hypot(...values) },
  min: { least: 1, most: 64, run: (...values) => Math.min(...values) },
  max: { least: 1, most: 64, run: (...values) => Math.max(...values) },
  factorial: { least: 1, most: 1, run: factorial },
};

const TOKEN = /\s*(?:(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+(?:e[-+]?\d+)?)|([a-z_]\w*)|(\*\*|[-+*/^%(),!]))/iy;
const MAX_DEPTH = 64;

/**
 * Evaluates an arithmetic expression. It may have `+ - * / %`, powers (`^` or `**`), `!`, brackets, variables, `pi`,
 * `e`, `tau` and functions. A remainder has the sign of the dividend. Powers are computed from the right, and before a
 * sign: `-2^2` is −4. There is no function `log`, because its base differs between languages: use `ln`, `log2` or
 * `log10`.
 *
 * @throws Error saying what is wrong
 */
export function evaluateExpression(text: string, variables: { [name: string]: number } = {}): Evaluation {
  const tokens = tokensOf(text);
  let at = 0;
  let largest = 0;
  const note = (value: number): number => {
    if (!Number.isFinite(value)) throw new Error("has no finite value");
    largest = Math.max(largest, Math.abs(value));
    return value;
  };
  const take = (token: string): boolean => {
    if (tokens[at] !== token) return false;
    at++;
    return true;
  };
  const expect = (token: string): void => {
    if (!take(token)) throw new Error(`wants ${token} instead of ${tokens[at] ?? "its end"}`);
  };

  function sum(depth: number): number {
    if (depth > MAX_DEPTH) throw new Error(`is nested deeper than ${MAX_DEPTH} levels`);
    let value = product(depth);
    for (;;) {
      if (take("+")) value = note(value + product(depth));
      else if (take("-")) value = note(value - product(depth));
      else return value;
    }
  }
  function product(depth: number): number {
    let value = signed(depth);
    for (;;) {
      if (take("*")) value = note(value * signed(depth));
      else if (take("/")) value = note(value / signed(depth));
      else if (take("%")) value = note(value % signed(depth));
      else return value;
    }
  }
  function signed(depth: number): number {
    if (depth > MAX_DEPTH) throw new Error(`is nested deeper than ${MAX_DEPTH} levels`);
    if (take("-")) return -signed(depth + 1);
    if (take("+")) return signed(depth + 1);
    return power(depth);
  }
  function power(depth: number): number {
    let base = atom(depth);
    while (take("!")) base = note(factorial(base));
    return take("^") || take("**") ? note(base ** signed(depth + 1)) : base;
  }
  function atom(depth: number): number {
    const token = tokens[at++];
    if (token === undefined) throw new Error("ends too early");
    if (token === "(") {
      const value = sum(depth + 1);
      expect(")");
      return value;
    }
    if (/^[\d.]/.test(token)) return note(Number(token));
    if (take("(")) return call(token, depth);
    if (Object.hasOwn(variables, token)) return note(variables[token] as number);
    if (Object.hasOwn(CONSTANTS, token)) return CONSTANTS[token] as number;
    throw new Error(`has ${token}, which is not known`);
  }
  function call(name: string, depth: number): number {
    const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (!known) throw new Error(`has the function ${name}, which is not known`);
    const values = [sum(depth + 1)];
    while (take(",")) values.push(sum(depth + 1));
    expect(")");
    if (values.length < known.least || values.length > known.most) {
      throw new Error(`gives ${name} ${values.length} values`);
    }
    return note(known.run(...values));
  }

  const value = sum(0);
  if (at < tokens.length) throw new Error(`has ${tokens[at]} where nothing is expected`);
  return { value, largest };
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  for (let at = 0; at < end; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match)
      throw new Error(`has ${JSON.stringify(text.slice(at, at + 8).trim())}, which is not understood`);
    tokens.push((match[1] ?? match[2] ?? match[3]) as string);
  }
  return tokens;
}

function factorial(value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 170)
    throw new Error("has a factorial of something other than a small whole number");
  let product = 1;
  for (let factor = 2; factor <= value; factor++) product *= factor;
  return product;
}
