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
  if (!hasAudits(step) || !(await everConsented(step.store, receipt.agent))) return [];
  const { paramsHash, resultHash } = receipt;
  if (paramsHash === null || resultHash === null) return [];
  const id = disclosureId(receipt);
  const known = await step.store.get("disclosure", id);
  if (known === null) {
    await step.store.insert("disclosure", { id, paramsHash, resultHash, isEquivocal: false });
    return [];
  }
  const isSame = known.paramsHash === paramsHash && known.resultHash === resultHash;
  if (isSame || known.isEquivocal) return [];
  await step.store.update("disclosure", id, { isEquivocal: true });
  const hires: string[] = [];
  for await (const hire of itemsOf(step.store, disclosedBy(id))) hires.push(hire);
  return hires;
}

/** Whether a seller said two things of the hire that a receipt is of, which is audited from here on. */
export async function isEquivocal(step: Step, receipt: Row<"receipt">, hire: string): Promise<boolean> {
  const id = disclosureId(receipt);
  await append(step.store, disclosedBy(id), hire);
  return (await step.store.get("disclosure", id))?.isEquivocal ?? false;
}

function disclosureId({ agent, hireId }: Row<"receipt">): string {
  return `${agent}/${hireId}`;
}

function disclosedBy(id: string): string {
  return `disclosed/${id}`;
}
