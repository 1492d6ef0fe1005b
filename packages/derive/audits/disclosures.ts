import { changeHireKey, findHireKey, hireKey } from "../hireKeys.ts";
import { append, itemsOf } from "../lists.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { hasAudits } from "./auditRow.ts";
import { everConsented } from "./consents.ts";

/**
 * Notes what a receipt says was asked for and delivered. A seller that signs other hashes for the same hire says two things of
 * one work; whether either receipt ever counts does not matter.
 *
 * @returns the audited hires that two things are said of from here on: of receipts that name one hire, several may be joined to
 *   payments of their own before one is counted
 */
export async function noteDisclosure(step: Step, receipt: Row<"receipt">): Promise<string[]> {
  const { paramsHash, resultHash } = receipt;
  if (!hasAudits(step) || paramsHash === null || resultHash === null) return [];
  if (!(await everConsented(step, receipt.agent))) return [];
  const id = hireKey(receipt);
  const known = await findHireKey(step, id);
  if (known === null || known.paramsHash === null) {
    await changeHireKey(step, id, { paramsHash, resultHash });
    return [];
  }
  const isSame = known.paramsHash === paramsHash && known.resultHash === resultHash;
  if (isSame || known.isEquivocal) return [];
  await changeHireKey(step, id, { isEquivocal: true });
  const hires = known.audited === null ? [] : [known.audited];
  for await (const hire of itemsOf(step.store, auditedBy(id))) hires.push(hire);
  return hires;
}

/** Whether a seller said two things of the hire that a receipt is of, which is audited from here on. */
export async function isEquivocal(step: Step, receipt: Row<"receipt">, hire: string): Promise<boolean> {
  const id = hireKey(receipt);
  const known = await findHireKey(step, id);
  if (known === null || known.audited === null) await changeHireKey(step, id, { audited: hire });
  else await append(step.store, auditedBy(id), hire);
  return known?.isEquivocal ?? false;
}

/** The list of further hires that are audited by receipts of one key: more than one is rare. */
function auditedBy(key: string): string {
  return `audited/${key}`;
}
