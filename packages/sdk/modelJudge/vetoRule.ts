import type { AuditReason } from "tallystick-protocol/records/auditReasons";
import type { Judgement } from "../auditor/judge.ts";
import type { Opinion } from "./modelAnswer.ts";

/**
 * Makes one judgement of several opinions. Models tend to agree, and work may persuade one of them. So a few
 * objections outvote the rest, and work passes only if every model has judged it and too few object.
 *
 * @param vetoes how many models must fail the work for the verdict `fail`
 */
export function vetoRule(opinions: readonly Opinion[], vetoes: number): Judgement {
  const of = (verdict: Opinion["verdict"]): Opinion[] => opinions.filter((one) => one.verdict === verdict);
  const [fails, passes] = [of("fail"), of("pass")];
  if (fails.length >= vetoes) return judgement("fail", fails, opinions.length);
  if (passes.length > 0 && fails.length + passes.length === opinions.length)
    return judgement("pass", passes, opinions.length);
  return judgement("inconclusive", of("inconclusive"), opinions.length);
}

/**
 * Gives the codes, and how many models named each. It leaves out the models' own texts: they may quote the work, and
 * would stay in the ledger permanently.
 */
function judgement(verdict: Judgement["verdict"], by: readonly Opinion[], all: number): Judgement {
  const counts = new Map<AuditReason["code"], number>();
  for (const { codes } of by) for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  if (counts.size === 0) counts.set(verdict === "pass" ? "meets_request" : "cannot_judge", by.length);
  const reasons = [...counts].map(([code, count]) => ({ code, detail: `${count} of ${all} models` }));
  return { verdict, reasons };
}
