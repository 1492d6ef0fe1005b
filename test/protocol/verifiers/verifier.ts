import { expect } from "chai";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { everyChange } from "../../support/everyChange.ts";

/** A row of the table: a verifier, and an input that the verifier accepts. */
export type Verifier = {
  name: string;
  input: () => object | Promise<object>;
  /**
   * Returns undefined for a valid input, else the reason for the refusal. A thrown TallystickError is a refusal too.
   */
  judge: (input: never) => unknown;
  /** The paths of values that the caller gives in TypeScript. A change keeps the type of these values. */
  given?: RegExp;
  /**
   * The expected words in the reason, by path. They are necessary where the reason does not name the changed field. For
   * example, a signature covers many fields.
   */
  says?: { at: RegExp; words: RegExp }[];
  /** Changes (`<path> <what>`) that the verifier may accept, and the reasons. */
  taken?: { at: RegExp; why: string }[];
};

/**
 * Changes every field of a verifier's input, one at a time. The verifier must refuse each changed input, and name the
 * wrong part.
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
  expect(unused, "exceptions that no change needs").to.deep.equal([]);
}

async function refusal(judge: Verifier["judge"], input: unknown): Promise<string | undefined> {
  try {
    const answer = await judge(input as never);
    return answer === undefined ? undefined : String(answer);
  } catch (error) {
    // Any other error is a fault of the verifier. Then the test fails.
    if (!(error instanceof TallystickError)) throw error;
    const fields =
      error instanceof InvalidInputError ? error.issues.map(({ field }) => field) : [error.field];
    return [...fields, error.message].filter(Boolean).join(" ");
  }
}
