import type { DisclosedHire } from "tallystick-protocol/audits/disclosure";
import { TallystickError } from "tallystick-protocol/errors";
import type { Assignment } from "../audits/assignment.ts";

/**
 * The fields of a hire that the disclosed work must match.
 *
 * @throws TallystickError `not_auditable` for a hire whose receipt lacks these fields. By the rules such a hire
 * fails, and no auditor is needed. An auditor that is asked anyway says fail, with the reason `undisclosed`
 */
export function disclosedHireOf(assignment: Assignment): DisclosedHire {
  const { seller, buyer, capability, hireId, paramsHash, resultHash } = assignment;
  if (capability !== null && hireId !== null && paramsHash !== null && resultHash !== null)
    return { seller, buyer, capability, hireId, paramsHash, resultHash };
  throw new TallystickError({
    code: "not_auditable",
    message: `The receipt of ${assignment.hire} does not say what was asked for and delivered.`,
  });
}
