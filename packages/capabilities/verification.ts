/**
 * The result of a verification function (SHP §8.1): every check by its name, and whether all passed.
 * `details` has the reasons for failed checks. `checks` has the same form as in receipts.
 */
export type Verification = {
  all_passed: boolean;
  checks: { [name: string]: boolean };
  details: { [name: string]: string };
  /** The reason why the checks were stopped without a verdict, which counts as failed. */
  reason?: "took_too_long" | "took_too_much_memory";
};

/** A verification in the form of SHP §7.1: its checks are a list. Answers to hires have this form. */
export type WireVerification = {
  checks: { name: string; passed: boolean; detail?: string }[];
  all_passed: boolean;
};

/** Turns a verification into the list form of SHP §7.1. */
export function toWireVerification({ all_passed, checks, details }: Verification): WireVerification {
  return {
    checks: Object.entries(checks).map(([name, passed]) => ({
      name,
      passed,
      ...(details[name] !== undefined && { detail: details[name] }),
    })),
    all_passed,
  };
}
