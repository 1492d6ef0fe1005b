/**
 * What a verification function found (SHP §8.1): every check by its name, and whether all passed. `details` says why
 * the failed ones failed. `checks` has the shape that receipts carry.
 */
export type Verification = {
  all_passed: boolean;
  checks: { [name: string]: boolean };
  details: { [name: string]: string };
  /** Why there is no verdict of the checks: they were ended, which counts as failed. */
  reason?: "took_too_long" | "took_too_much_memory";
};

/** The same as SHP §7.1 writes it in the answer to a hire: a list. */
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
