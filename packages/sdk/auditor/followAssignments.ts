import type { Address } from "tallystick-protocol/address";
import { auditToken } from "tallystick-protocol/records/auditToken";
import type { AuditNode } from "../audits/assignment.ts";
import { type AuditWork, type AuditWorks, LONGEST_KEPT_MS } from "./auditWork.ts";

export type FollowParameters = {
  auditor: Address;
  node: AuditNode;
  works: AuditWorks;
  /** Most audits that are not over. */
  maxOpen: number;
  /** Milliseconds since 1970. */
  now: () => number;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
};

const isEnded = ({ stage }: AuditWork): boolean => stage === "posted" || stage === "over";

/**
 * Looks what is assigned to an auditor: writes down what is new and final, forgets what is over, and deletes what was shown.
 *
 * @returns what there is to do, what is due first before the rest
 * @throws ServiceError, ChainError when the node or the chain cannot be asked
 */
export async function followAssignments(
  parameters: FollowParameters,
  signal: AbortSignal,
): Promise<AuditWork[]> {
  const { auditor, node, works, maxOpen, now, log } = parameters;
  const open = await node.openOfAuditor(auditor, signal);
  const known = new Map((await works.all()).map((work) => [work.token, work]));
  const tokens = new Set(open.map((assignment) => auditToken(assignment)));
  let count = [...known.values()].filter((work) => !isEnded(work)).length;
  for (const assignment of open) {
    const token = auditToken(assignment);
    if (known.has(token) || count >= maxOpen) continue;
    // Of hires whose receipt does not say what they were, the rules alone judge.
    if (assignment.paramsHash === null || !(await node.isFinal(assignment, signal))) continue;
    const at = now();
    const work: AuditWork = { token, assignment, stage: "asking", seenAt: at, tries: 0, nextAt: at };
    if (!(await works.begin(work))) continue;
    log("An audit was assigned.", { token, hire: assignment.hire });
    known.set(token, work);
    count++;
  }
  const due: AuditWork[] = [];
  for (const work of known.values()) {
    if (await tidy(work, tokens.has(work.token))) continue;
    due.push(work);
  }
  return due.sort((a, b) => a.assignment.due - b.assignment.due);

  /** Whether there is nothing to do. Whatever became of it, nothing is kept for longer than 30 days. */
  async function tidy(work: AuditWork, isOpen: boolean): Promise<boolean> {
    const { token, seenAt } = work;
    if (now() - seenAt > LONGEST_KEPT_MS || (!isOpen && isEnded(work))) {
      await works.forget(token);
      return true;
    }
    if (isEnded(work)) return true;
    if (isOpen) return false;
    await works.forgetBytes(token);
    await works.put({ ...work, stage: "over" });
    return true;
  }
}
