import type { Address } from "tallystick-protocol/address";
import { auditToken } from "tallystick-protocol/records/auditToken";
import type { AuditNode } from "../audits/assignment.ts";
import { type AuditWork, type AuditWorks, MAX_KEPT_MS } from "./auditWork.ts";

export type FollowParameters = {
  auditor: Address;
  node: AuditNode;
  works: AuditWorks;
  /** The most audits that this auditor has open. */
  maxOpen: number;
  /** Milliseconds since 1970. */
  now: () => number;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/** How long a finished audit is remembered after the time for its verdict, in milliseconds. */
const REMEMBERED_MS = 86_400_000;

const isEnded = ({ stage }: AuditWork): boolean => stage === "posted" || stage === "over";

/**
 * Reads an auditor's assignments, and stores the new assignments that are final. Deletes the work of audits that
 * are over. Forgets these audits one day after the time for their verdict.
 * @returns the audits to work on, the most urgent first
 * @throws ServiceError, ChainError when the node or the chain cannot be asked
 */
export async function followAssignments(
  parameters: FollowParameters,
  signal: AbortSignal,
): Promise<AuditWork[]> {
  const { auditor, node, works, maxOpen, now, log } = parameters;
  const open = await node.openOfAuditor(auditor, signal);
  const known = new Map((await works.all(log)).map((work) => [work.token, work]));
  const tokens = new Set(open.map((assignment) => auditToken(assignment)));
  let count = [...known.values()].filter((work) => !isEnded(work)).length;
  for (const assignment of open) {
    const token = auditToken(assignment);
    if (known.has(token) || count >= maxOpen) continue;
    // If the receipt does not have both hashes, the rules alone judge the hire.
    if (assignment.paramsHash === null || assignment.resultHash === null) continue;
    if (!(await node.isFinal(assignment, signal))) continue;
    const at = now();
    const work: AuditWork = { token, assignment, stage: "asking", seenAt: at, tries: 0, nextAt: at };
    if (!(await works.begin(work))) continue;
    log("An audit was assigned.", { token, hire: assignment.hire });
    known.set(token, work);
    count++;
  }
  const due: AuditWork[] = [];
  for (const work of known.values()) {
    const next = await tidy(parameters, work, tokens.has(work.token), signal);
    if (next) due.push(next);
  }
  return due.sort((a, b) => a.assignment.due - b.assignment.due);
}

/**
 * Returns the audit if the auditor must go on with it, otherwise undefined. Deletes the work of an audit that is
 * over, and later the audit itself. Nothing is kept for longer than 30 days.
 */
async function tidy(
  { node, works, now }: FollowParameters,
  work: AuditWork,
  isListed: boolean,
  signal: AbortSignal,
): Promise<AuditWork | undefined> {
  const { token, seenAt, assignment, stage } = work;
  const isLate = now() > assignment.due * 1000 + REMEMBERED_MS;
  if (now() - seenAt > MAX_KEPT_MS || (!isListed && isEnded(work) && isLate)) {
    await works.forget(token);
    return undefined;
  }
  if (isListed && stage === "over" && work.failure === undefined) {
    // The node was late, or derived everything again, and has caught up. A signed verdict stays valid. If there is
    // none, the auditor asks for the work again.
    const again = (await works.verdict(token)) ? "decided" : "asking";
    const next: AuditWork = { ...work, stage: again, tries: 0, nextAt: now() };
    await works.put(next);
    return next;
  }
  if (isEnded(work)) return undefined;
  // The list has a limit, and can change while its pages are read. So the hire itself is asked for its open audit.
  const isOpen =
    isListed || (await node.openOfHire(assignment.hire, signal)).some((one) => auditToken(one) === token);
  if (isOpen) return work;
  await works.forgetBytes(token);
  const { failure: _, ...rest } = work;
  await works.put({ ...rest, stage: "over" });
  return undefined;
}
