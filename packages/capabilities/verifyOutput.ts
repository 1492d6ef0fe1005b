import { TallystickError } from "tallystick-protocol/errors";
import { requireCapability } from "./capabilityOf.ts";
import type { AnyCapability, CheckContext, CheckFunction } from "./defineCapability.ts";
import { validateJson } from "./validateJson.ts";
import type { Verification } from "./verification.ts";
import { newestVersion, versionNumber } from "./versions.ts";

/** The longest explanation of a failed check, in characters. */
const MAX_DETAIL = 300;

/**
 * Checks what a seller delivered for a standard capability (SHP §8.1): its schema first, then the checks of
 * that version and of every earlier one. The result depends only on the arguments. No `output` makes it
 * throw. If the schema does not fit, all other checks count as failed.
 *
 * @param capabilityId a standard id such as `text.translate.en.it.business`
 * @param params what the buyer sent; see `checkInput`
 * @param output what came back, as parsed JSON
 * @param version `v0`, `v1`, …; the newest when it is not given
 * @throws TallystickError `unknown_verification_version`, `unknown_capability`, `custom_capability`,
 * `capability_unavailable`; InvalidInputError `invalid_capability`
 */
export async function verifyOutput(
  capabilityId: string,
  params: unknown,
  output: unknown,
  version?: string,
): Promise<Verification> {
  const { capability, parts } = await requireCapability(capabilityId);
  const checks = checksOf(capability, version ?? newestVersion(capability));
  const verification: Verification = { all_passed: true, checks: {}, details: {} };
  const note = (name: string, complaint: string | undefined): void => {
    verification.checks[name] = complaint === undefined;
    if (complaint === undefined) return;
    verification.all_passed = false;
    verification.details[name] = complaint.slice(0, MAX_DETAIL);
  };

  const misfit = misfitOf(capability, params, output);
  note("matches_schema", misfit);
  const context = contextOf(capabilityId, parts, params, output);
  for (const [name, test] of checks) {
    note(name, misfit === undefined ? await complaintOf(test, context) : "not run: the schema does not fit");
  }
  return verification;
}

/**
 * The checks of one version: its own and those of every earlier one, in order.
 *
 * @throws TallystickError `unknown_verification_version`
 */
export function checksOf(
  capability: AnyCapability,
  version: string,
): [name: string, test: CheckFunction<never, never>][] {
  if (!capability.versions.some((published) => published.version === version)) {
    throw new TallystickError({
      code: "unknown_verification_version",
      message: `${capability.id} has no verification version ${version}.`,
      hint: `It has ${capability.versions.map((published) => published.version).join(" and ")}.`,
      field: "verification_version",
    });
  }
  const number = versionNumber(version) ?? 0;
  return Object.entries(capability.checks)
    .filter(([, { since }]) => (versionNumber(since) ?? 0) <= number)
    .map(([name, { test }]) => [name, test]);
}

function misfitOf(capability: AnyCapability, params: unknown, output: unknown): string | undefined {
  try {
    const [issue] = [
      ...validateJson(capability.input, params, "params"),
      ...validateJson(capability.output, output, "output"),
    ];
    return issue && `${issue.field}: ${issue.message}`;
  } catch (error) {
    // The params or the output are not JSON at all: reading them throws, for example in a getter.
    return `is no JSON: ${messageOf(error)}`;
  }
}

async function complaintOf(
  test: CheckFunction<never, never>,
  context: CheckContext<never, never>,
): Promise<string | undefined> {
  try {
    return await test(context);
  } catch (error) {
    return messageOf(error);
  }
}

function contextOf(
  id: string,
  parts: { readonly [placeholder: string]: string },
  input: unknown,
  output: unknown,
): CheckContext<never, never> {
  const made = new Map<string, { value: unknown } | { error: unknown }>();
  const once = <Value>(key: string, make: () => Value): Value => {
    let known = made.get(key);
    if (known === undefined) {
      try {
        known = { value: make() };
      } catch (error) {
        known = { error };
      }
      made.set(key, known);
    }
    if ("error" in known) throw known.error;
    return known.value as Value;
  };
  return { id, parts, input: input as never, output: output as never, once };
}

function messageOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : "the check itself failed";
}
