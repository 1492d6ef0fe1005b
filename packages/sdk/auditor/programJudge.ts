import { requireCapability } from "tallystick-capabilities/capabilityOf";
import type { Verification } from "tallystick-capabilities/verification";
import { isCustomCapability } from "tallystick-protocol/capability";
import { verifyApart } from "../verification/verifyApart.ts";
import type { AuditCase, Judge, Judgement } from "./judge.ts";

/** The most checks that a verdict names. */
const MAX_NAMED = 8;

/**
 * A judge that is a program: the capability's own verifier (SHP §8.1). By default it uses the newest version, which
 * may be stricter than the version in the seller's listing. It finds broken work. Work of the right form can still
 * be bad, so put this judge before another judge (`everyJudge`).
 *
 * @param options.version `v0`, `v1`, …; default the capability's newest
 */
export function programJudge(options: { version?: string } = {}): Judge {
  const { version } = options;
  const verify = async ({ capability, params, result }: AuditCase): Promise<Judgement> => {
    if (isCustomCapability(capability) || !(await isKnown(capability))) {
      return inconclusive(`${capability} has no published verifier`);
    }
    return judgementOf(await verifyApart({ capability, params, result, version }));
  };
  // Remembered, because `everyJudge` asks this judge again in each round while a person after it takes hours.
  return (auditCase, { remember }) => remember("program", () => verify(auditCase));
}

/**
 * Makes a judgement of the checks. It names the failed checks but leaves out their messages, which may quote the
 * work.
 */
function judgementOf({ all_passed, checks, reason }: Verification): Judgement {
  if (all_passed)
    return { verdict: "pass", reasons: [{ code: "meets_request", detail: "every check passed" }] };
  if (reason !== undefined) return inconclusive(reason);
  const failed = Object.keys(checks).filter((name) => !checks[name]);
  const detail = `failed: ${failed.slice(0, MAX_NAMED).join(", ")}`.slice(0, 500);
  return { verdict: "fail", reasons: [{ code: "wrong_format", detail }] };
}

function inconclusive(detail: string): Judgement {
  return { verdict: "inconclusive", reasons: [{ code: "cannot_judge", detail }] };
}

async function isKnown(capability: string): Promise<boolean> {
  return await requireCapability(capability).then(
    () => true,
    () => false,
  );
}
