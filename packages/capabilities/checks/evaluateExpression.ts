/**
 * The value of an expression, and about how far it may lie from the exact value because numbers are rounded. The error
 * is 0 if every number on the way is exact.
 */
export type Evaluation = { value: number; error: number };

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
  // Adding 0 makes −0 to 0. Languages do not agree on the sign of such a zero, and here it would turn the angle around.
  atan2: { least: 2, most: 2, run: (y, x) => Math.atan2(y + 0, x + 0) },
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
 * `e`, `tau` and functions. A remainder has the sign of the dividend. There is
 * one zero: `atan2(-0, -1)` is π. Powers are computed from the right, and before a
 * sign: `-2^2` is −4. There is no function `log`, because its base differs between languages: use `ln`, `log2` or
 * `log10`.
 *
 * @throws Error saying what is wrong
 */
export function evaluateExpression(text: string, variables: { [name: string]: number } = {}): Evaluation {
  const tokens = tokensOf(text);
  let at = 0;
  const take = (token: string): boolean => {
    if (tokens[at] !== token) return false;
    at++;
    return true;
  };
  const expect = (token: string): void => {
    if (!take(token)) throw new Error(`wants ${token} instead of ${tokens[at] ?? "its end"}`);
  };

  function sum(depth: number): Evaluation {
    let value = product(depth);
    for (;;) {
      if (take("+")) value = computed((a, b) => a + b, value, product(depth));
      else if (take("-")) value = computed((a, b) => a - b, value, product(depth));
      else return value;
    }
  }
  function product(depth: number): Evaluation {
    let value = signed(depth);
    for (;;) {
      if (take("*")) value = computed((a, b) => a * b, value, signed(depth));
      else if (take("/")) value = computed((a, b) => a / b, value, signed(depth));
      else if (take("%")) value = computed((a, b) => a % b, value, signed(depth));
      else return value;
    }
  }
  function signed(depth: number): Evaluation {
    if (depth > MAX_DEPTH) throw new Error(`is nested deeper than ${MAX_DEPTH} levels`);
    if (take("-")) {
      const { value, error } = signed(depth + 1);
      return { value: -value, error };
    }
    if (take("+")) return signed(depth + 1);
    return power(depth);
  }
  function power(depth: number): Evaluation {
    let base = atom(depth);
    while (take("!")) base = computed(factorial, base);
    return take("^") || take("**") ? computed((a, b) => a ** b, base, signed(depth + 1)) : base;
  }
  function atom(depth: number): Evaluation {
    const token = tokens[at++];
    if (token === undefined) throw new Error("ends too early");
    if (token === "(") {
      const value = sum(depth + 1);
      expect(")");
      return value;
    }
    if (/^[\d.]/.test(token)) return computed(() => Number(token));
    if (take("(")) return call(token, depth);
    if (Object.hasOwn(variables, token)) return computed(() => variables[token] as number);
    if (Object.hasOwn(CONSTANTS, token)) return computed(() => CONSTANTS[token] as number);
    throw new Error(`has ${token}, which is not known`);
  }
  function call(name: string, depth: number): Evaluation {
    const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
    if (!known) throw new Error(`has the function ${name}, which is not known`);
    const values = [sum(depth + 1)];
    while (take(",")) values.push(sum(depth + 1));
    expect(")");
    if (values.length < known.least || values.length > known.most) {
      throw new Error(`gives ${name} ${values.length} values`);
    }
    return computed(known.run, ...values);
  }

  const value = sum(0);
  if (at < tokens.length) throw new Error(`has ${tokens[at]} where nothing is expected`);
  return value;
}

/**
 * The result of one operation, with its error. The error has two parts: the rounding of this result, and the effect of
 * the operands' errors. To find this effect, each operand is moved by its error, and the operation runs again. So the
 * error is large where small changes matter, as in a difference of large numbers or the sine of a large angle. Rounding
 * moves a number by at most half an epsilon. A whole epsilon is allowed, because others may compute in another order.
 */
function computed(run: (...values: number[]) => number, ...operands: Evaluation[]): Evaluation {
  const values = operands.map(({ value }) => value);
  const value = run(...values);
  if (!Number.isFinite(value)) throw new Error("has no finite value");
  const isExact = isExactNumber(value) && operands.every(({ error }) => error === 0);
  let total = isExact ? 0 : Math.abs(value) * Number.EPSILON;
  for (const [at, { value: own, error }] of operands.entries()) {
    const moved = [own - error, own + error].map((other) => movedBy(run, values.with(at, other), value));
    total += Math.max(...moved);
  }
  return { value, error: total };
}

/** How far other operands move the result; 0 if the operation has no result for them. */
function movedBy(run: (...values: number[]) => number, values: number[], value: number): number {
  try {
    const distance = Math.abs(run(...values) - value);
    return Number.isFinite(distance) ? distance : 0;
  } catch {
    return 0;
  }
}

/**
 * Whether a number is exact: it is small, and it is whole or a number of 1024ths. 0.1 is not exact, because it is
 * rounded.
 */
function isExactNumber(value: number): boolean {
  return Number.isSafeInteger(value) || Number.isSafeInteger(value * 1024);
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
