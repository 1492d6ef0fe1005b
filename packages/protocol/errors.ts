/** The parts of a {@link TallystickError}. */
export type TallystickErrorParameters = {
  /** Stable snake_case identifier a program can switch on. */
  code: string;
  /** One sentence that says what happened. */
  message: string;
  /** What to do next, as a sentence. */
  hint?: string | undefined;
  /** The wrong input field, as a path (`body.price_usdc`). */
  field?: string | undefined;
  /** Whatever else helps to find the cause; must be serializable as JSON. */
  details?: unknown;
  cause?: unknown;
};

/** The parent of every error this project throws on purpose: a `code` for programs, a `hint` for people. */
export class TallystickError extends Error {
  readonly code: string;
  declare readonly hint?: string;
  declare readonly field?: string;
  declare readonly details?: unknown;

  constructor(parameters: TallystickErrorParameters) {
    super(parameters.message, parameters.cause === undefined ? undefined : { cause: parameters.cause });
    this.name = new.target.name;
    this.code = parameters.code;
    if (parameters.hint !== undefined) this.hint = parameters.hint;
    if (parameters.field !== undefined) this.field = parameters.field;
    if (parameters.details !== undefined) this.details = parameters.details;
  }
}

/** One thing wrong with an input: the field's path and what is wrong with it. */
export type InputIssue = { field: string; message: string };

/** Bad input from outside. Names every wrong field. When it is thrown, nothing has been written. */
export class InvalidInputError extends TallystickError {
  readonly issues: InputIssue[];

  /** @param parameters.issues at least one; the first gives `field`, and `message` when none is given. */
  constructor(
    parameters: { issues: InputIssue[]; code?: string; message?: string } & Pick<
      TallystickErrorParameters,
      "hint" | "details" | "cause"
    >,
  ) {
    const first = parameters.issues[0];
    super({
      ...parameters,
      code: parameters.code ?? "invalid_input",
      message:
        parameters.message ??
        (first
          ? `${first.field === "" ? "The input" : first.field}: ${first.message}`
          : "The input is not valid."),
      field: first?.field,
    });
    this.issues = parameters.issues;
  }
}

/** The part of a zod error this module reads, so that it needs no import of zod. */
type IssueLike = { path: PropertyKey[]; message: string; code?: string | undefined; keys?: string[] };

/**
 * Turns a zod error into an {@link InvalidInputError}, one issue for each wrong field.
 *
 * @param prefix path put before every field, e.g. `body`
 */
export function invalidInputFromZod(
  error: { issues: readonly IssueLike[] },
  prefix = "",
  code?: string,
): InvalidInputError {
  const issues = error.issues.map((issue) => {
    const path = [...(prefix === "" ? [] : [prefix]), ...issue.path.map(String)].join(".");
    // JSON has no "undefined", so the field is missing.
    const message = issue.message.endsWith("received undefined") ? "is required" : issue.message;
    return { field: path, message };
  });
  return new InvalidInputError(code === undefined ? { issues } : { issues, code });
}
