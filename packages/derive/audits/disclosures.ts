import type { ApplyContext } from "../applyContext.ts";
import { changeHireKey, findHireKey, hireKey } from "../hireKeys.ts";
import { append, itemsOf } from "../lists.ts";
import type { Row } from "../tables.ts";
import { hasAudits } from "./auditRow.ts";
import { everConsented } from "./consents.ts";

/**
 * Stores the hashes of params and result that a receipt has. A seller that signs other hashes for the same
 * hire contradicts itself, even if neither receipt ever counts.
 *
 * @returns the audited hires about which the seller now contradicts itself. There may be several: receipts
 * with one hire id may each have a payment of their own
 */
export function noteDisclosure(context: ApplyContext, receipt: Row<"receipt">): string[] {
  const { paramsHash, resultHash } = receipt;
  if (!hasAudits(context) || paramsHash === null || resultHash === null) return [];
  if (!everConsented(context, receipt.agent)) return [];
  const id = hireKey(receipt);
  const known = findHireKey(context, id);
  if (known === null || known.paramsHash === null) {
    changeHireKey(context, id, { paramsHash, resultHash });
    return [];
  }
  const isSame = known.paramsHash === paramsHash && known.resultHash === resultHash;
  if (isSame || known.isEquivocal) return [];
  changeHireKey(context, id, { isEquivocal: true });
  const hires = known.audited === null ? [] : [known.audited];
  for (const hire of itemsOf(context.store, auditedBy(id))) hires.push(hire);
  return hires;
}

/**
 * Notes that a hire is audited, so that a later receipt can contradict it. Returns whether the seller
 * contradicted itself about this hire before.
 */
export function noteAudited(context: ApplyContext, receipt: Row<"receipt">, hire: string): boolean {
  const id = hireKey(receipt);
  const known = findHireKey(context, id);
  if (known === null || known.audited === null) changeHireKey(context, id, { audited: hire });
  else append(context.store, auditedBy(id), hire);
  return known?.isEquivocal ?? false;
}

/** The list of the hires that are audited under one key, after the first. A key rarely has more than one hire. */
function auditedBy(key: string): string {
  return `audited/${key}`;
}
