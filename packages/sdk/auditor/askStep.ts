import { DISCLOSURE_TOLERANCE_SECONDS } from "tallystick-protocol/audits/disclosureRequest";
import { requestService } from "../requestService.ts";
import { askForWork, type Holder } from "./askForWork.ts";
import { type AuditMoves, type AuditStep, type AuditStepParameters, isPast } from "./auditStep.ts";
import type { AuditWork } from "./auditWork.ts";
import { disclosedHireOf } from "./disclosedHireOf.ts";

/**
 * Before an auditor says that nobody showed the work, it waits until this share of the time for a verdict is over, and
 * tries at least this many times.
 */
const ASKED_SHARE = 3 / 4;
const MIN_TRIES = 3;

/**
 * Asks the seller for the work, then the buyer, then the operator if one is named. If nobody shows it in time, the
 * verdict is fail, with the reason `undisclosed`.
 */
export function askStep(parameters: AuditStepParameters, { forward, later }: AuditMoves): AuditStep {
  const { account, baseUrl, holderFetch, fetch, node, works, now, log } = parameters;
  const { operatorOrigins = {}, askMs = 60_000, maxBytes } = parameters;

  async function holdersOf({ assignment }: AuditWork, signal: AbortSignal): Promise<Holder[]> {
    const { seller, buyer, operator, capability } = assignment;
    const sides = [
      { who: "seller", agent: seller },
      { who: "buyer", agent: buyer },
    ] as const;
    const holders: Holder[] = [];
    for (const { who, agent } of sides) {
      const origins = await node.originsOf(agent, capability, signal);
      holders.push(...origins.map((origin) => ({ who, origin })));
    }
    const kept = Object.hasOwn(operatorOrigins, operator) ? operatorOrigins[operator] : undefined;
    if (kept !== undefined) holders.push({ who: "operator", origin: new URL(kept).origin });
    return holders;
  }

  /**
   * Whether holders may have refused our requests because this machine's clock is wrong. If the node does not tell
   * its time, this machine's clock counts as right.
   */
  async function isClockOff(signal: AbortSignal): Promise<boolean> {
    const { headers } = await requestService({ baseUrl, path: "/v1/ledger/latest", fetch, signal });
    const theirs = Date.parse(headers.get("date") ?? "");
    // The header has whole seconds only, and it took time to arrive.
    return Number.isFinite(theirs) && Math.abs(theirs - now()) > (DISCLOSURE_TOLERANCE_SECONDS - 5) * 1000;
  }

  return async (work, signal) => {
    const { assignment, token } = work;
    const hire = disclosedHireOf(assignment);
    const how = { account, fetch: holderFetch, timeoutMs: askMs, now, maxBytes, signal };
    const { work: shown, notShown } = await askForWork(assignment, hire, await holdersOf(work, signal), how);
    if (shown) {
      await works.putBytes(token, shown.text, now());
      return await forward(work, { stage: "judging", notShown });
    }
    log("Nobody showed the work of a hire.", { token, hire: assignment.hire, notShown });
    if (work.tries + 1 < MIN_TRIES || !isPast(work, ASKED_SHARE, now()))
      return await later(work, { notShown });
    if (await isClockOff(signal)) {
      log("This clock differs from the node's clock, so no holder is accused of hiding the work.", { token });
      return await later(work, { notShown });
    }
    const detail = notShown.map(({ who, why }) => `${who}: ${why}`).join("; ") || "nobody has an address";
    const reasons = [{ code: "undisclosed" as const, detail: detail.slice(0, 500) }];
    return await forward(work, { stage: "decided", notShown, judgement: { verdict: "fail", reasons } });
  };
}
