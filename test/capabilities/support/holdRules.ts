import { expect } from "chai";
import { requireCapability } from "tallystick-capabilities/capabilityOf";
import type { CheckContext } from "tallystick-capabilities/defineCapability";

/** An input, an output, and what the check says of them: undefined if it has no complaint. */
export type RuleCase = [input: object, output: object, said: string | undefined];

/**
 * Runs one check of a capability alone, on results that no schema has judged, and expects its exact words.
 *
 * @param once the values that the checks of one result share, such as its picture
 */
export async function holdRules(
  id: string,
  name: string,
  cases: readonly RuleCase[],
  once: { [key: string]: unknown } = {},
): Promise<void> {
  const { capability, parts } = await requireCapability(id);
  const check = capability.checks[name];
  if (check === undefined) throw new Error(`${id} has no check ${name}`);
  const take = (key: string, make: () => unknown): unknown => (key in once ? once[key] : make());
  for (const [input, output, said] of cases) {
    const context = { id, parts, input, output, once: take } as unknown as CheckContext<never, never>;
    expect(await check.test(context), `${name}: ${JSON.stringify([input, output])}`).to.equal(said);
  }
}
