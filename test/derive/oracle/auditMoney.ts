import type { DeriveEvent } from "tallystick-derive/events";
import type { Asked, Audit } from "./auditFacts.ts";
import type { Facts } from "./facts.ts";

const THIRTY_DAYS = 30 * 24 * 60 * 60;

export function earn(facts: Facts, time: number, audit: Audit, asked: Asked, times: bigint): void {
  if (asked.models !== null) return;
  const bands = facts.params.audit.fees.filter(({ fromAtomic }) => BigInt(fromAtomic) <= audit.amount);
  const earned = BigInt(bands.at(-1)?.feeAtomic ?? 0) * times;
  asked.fee += earned;
  facts.audits.money.push({ operator: audit.operator, auditor: asked.auditor, earned, paid: 0n, time });
}

/**
 * Pays an assigned auditor's verdict. A pass or a fail is paid. An inconclusive verdict is paid only if the next verdict
 * of its round is inconclusive too.
 */
export function earnWord(facts: Facts, time: number, audit: Audit, asked: Asked): void {
  if (asked.verdict !== "inconclusive") {
    earn(facts, time, audit, asked, 1n);
    return;
  }
  const before = audit.asked.findLast(
    (it) => it.round === asked.round && it.attempt < asked.attempt && it.verdict !== null,
  );
  if (before?.verdict === "inconclusive") earn(facts, time, audit, before, 1n);
}

export function readPayout(
  facts: Facts,
  { from, to, value, time }: Extract<DeriveEvent, { kind: "transfer" }>,
): void {
  const { operators } = facts.params.audit;
  const operator = Object.keys(operators)
    .sort()
    .find(
      (it) =>
        Object.entries(operators).some(([name, { pool }]) => name === it && pool === from) &&
        facts.audits.asked.some(
          (one) => one.auditor === to && one.models === null && one.audit.operator === it,
        ),
    );
  if (operator !== undefined)
    facts.audits.money.push({ operator, auditor: to, earned: 0n, paid: BigInt(value), time });
}

/** The debts of each operator, in total and for each period of thirty days. */
export function expectedMoney({ audits: { money } }: Facts) {
  const sum = (values: bigint[]) => values.reduce((a, b) => a + b, 0n);
  const periods: { [id: string]: { accrued: bigint; paid: bigint; owed: bigint } } = {};
  const owedBy = (operator: string, upTo: number) => {
    const own = money.slice(0, upTo).filter((it) => it.operator === operator);
    return sum(
      [...Map.groupBy(own, (it) => it.auditor).values()].map((all) => {
        const left = sum(all.map((it) => it.earned - it.paid));
        return left > 0n ? left : 0n;
      }),
    );
  };
  for (const [n, { operator, earned, paid, time }] of money.entries()) {
    if (earned === 0n && paid === 0n) continue;
    const id = `${operator}/${Math.floor(time / THIRTY_DAYS)}`;
    const known = periods[id] ?? { accrued: 0n, paid: 0n };
    periods[id] = {
      accrued: known.accrued + earned,
      paid: known.paid + paid,
      owed: owedBy(operator, n + 1),
    };
  }
  return periods;
}
