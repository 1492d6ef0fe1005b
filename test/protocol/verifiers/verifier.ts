import { expect } from "chai";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { everyChange } from "../../support/everyChange.ts";

/** A row of the table: a verifier, and an input that it accepts. */
export type Verifier = {
  name: string;
  input: () => object | Promise<object>;
  /**
   * Returns undefined for a valid input, else the reason for the refusal. A thrown TallystickError is a refusal too.
   */
  judge: (input: never) => unknown;
  /** Paths of values that the caller gives in TypeScript. They keep their type. */
  given?: RegExp;
  /**
   * The expected name of the fault by path, if it is not the field itself. For example, a signature is over many
   * fields.
   */
  says?: { at: RegExp; words: RegExp }[];
  /** Changes (`<path> <what>`) that the verifier may accept, and the reasons. */
  taken?: { at: RegExp; why: string }[];
};

/**
 * Changes every field of a verifier's input, one at a time. The verifier must refuse each change, and name the wrong
 * part.
 */
export async function holdToEveryField({
  input,
  judge,
  given,
  says = [],
  taken = [],
}: Verifier): Promise<void> {
  const good = await input();
  expect(await refusal(judge, good), "the input as it is").to.equal(undefined);
  const faults: string[] = [];
  const seen = new Set<RegExp>();
  let count = 0;
  for (const { path, what, input: changed } of everyChange(good, (at) => given?.test(at) ?? false)) {
    count++;
    const reason = await refusal(judge, changed);
    const exception = taken.find(({ at }) => at.test(`${path} ${what}`));
    if (reason === undefined) {
      if (exception === undefined) faults.push(`${path} ${what}: taken`);
      else seen.add(exception.at);
      continue;
    }
    const field =
      path
        .replaceAll(/\[\d+\]/g, "")
        .split(".")
        .at(-1) ?? "";
    const names = says.filter(({ at }) => at.test(path)).map(({ words }) => words);
    if (reason.includes(field) && field !== "") continue;
    if (!names.some((words) => words.test(reason))) faults.push(`${path} ${what}: named as "${reason}"`);
  }
  expect(faults.slice(0, 20)).to.deep.equal([]);
  expect(count, "changes").to.be.greaterThan(3);
  const unused = taken.filter(({ at }) => !seen.has(at)).map(({ at }) => at.source);
  expect(unused, "exceptions that nothing needs").to.deep.equal([]);
}

async function refusal(judge: Verifier["judge"], input: unknown): Promise<string | undefined> {
  try {
    const answer = await judge(input as never);
    return answer === undefined ? undefined : String(answer);
  } catch (error) {
    // Any other error is a fault of the verifier, and the test fails.
    if (!(error instanceof TallystickError)) throw error;
    const fields =
      error instanceof InvalidInputError ? error.issues.map(({ field }) => field) : [error.field];
    return [...fields, error.message].filter(Boolean).join(" ");
  }
}
