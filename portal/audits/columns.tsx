import { Address } from "../design/Address.tsx";
import type { Column } from "../design/DataTable.tsx";
import { formatNumber, formatRate, plainText, shortHash } from "../design/format.ts";
import { Time } from "../design/Time.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { linkTo } from "../router/route.ts";
import type { Assignment, AuditOfHire, AuditorOffer, Decision, MeasuredShare } from "./auditsQuery.ts";

/** A status, verdict or reason code as words. */
export function words(code: string): string {
  return plainText(code.toLowerCase().replaceAll("_", " "), 80);
}

const KINDS: { [code: string]: string } = {
  PASSED: "good",
  PASS: "good",
  ROLLED_BACK: "bad",
  FAILED: "bad",
  FAIL: "bad",
  CHALLENGED: "warn",
};

export function State({ code }: { code: string }) {
  return <span class={`badge ${KINDS[code] ?? ""}`}>{words(code)}</span>;
}

function HireLink({ id }: { id: string }) {
  return (
    <a class="hash" href={linkTo.hire(id)} title={plainText(id, 100)}>
      {shortHash(plainText(id, 100))}
    </a>
  );
}

export const AUDIT_COLUMNS: Column<AuditOfHire>[] = [
  {
    name: "Capability",
    cell: (it) => <a href={linkTo.hire(it.hire?.id ?? it.auditedHire)}>{plainText(it.capability, 128)}</a>,
    value: (it) => it.capability,
  },
  {
    name: "Status",
    cell: (it) => (
      <>
        <State code={it.status} /> {it.reason !== null && <span class="soft">{words(it.reason)}</span>}
      </>
    ),
    value: (it) => it.status,
  },
  { name: "Why", cell: (it) => CAUSES[it.cause] ?? words(it.cause), value: (it) => it.cause },
  { name: "Seller", cell: (it) => <Address address={it.sellerAddress} />, value: (it) => it.sellerAddress },
  {
    name: "Price",
    cell: (it) => <Usdc amount={it.amountUsdc} />,
    value: (it) => Number(it.amountUsdc),
    isNumber: true,
  },
  {
    name: "Open to audit",
    cell: (it) => <Time at={it.eligibleTime} />,
    value: (it) => it.eligibleTime,
    isNumber: true,
  },
];

const CAUSES: { [cause: string]: string } = {
  SAMPLE: "drawn at the audit rate",
  CONTESTED: "refunded after delivery",
  HISTORY: "judged again",
  RULES: "its own receipts",
};

/**
 * @param now the time of the node's last tick in unix seconds. An open assignment is late if it was due before this
 * time
 */
export function assignmentColumns(now: number): Column<Assignment>[] {
  return [
    {
      name: "Auditor",
      cell: (it) => <Address address={it.auditorAddress} />,
      value: (it) => it.auditorAddress,
    },
    { name: "Hire", cell: (it) => <HireLink id={it.auditedHire} />, value: (it) => it.auditedHire },
    {
      name: "Verdict",
      cell: (it) => (it.verdict === null ? <Open due={it.due} now={now} /> : <State code={it.verdict} />),
      value: (it) => it.verdict,
    },
    {
      name: "Because",
      cell: (it) => it.reasonCodes.map(words).join(", ") || <span class="soft">–</span>,
      value: (it) => it.reasonCodes.join(" "),
    },
    { name: "Kind", cell: (it) => words(it.auditorType), value: (it) => it.auditorType },
    {
      name: "Fee",
      cell: (it) => <Usdc amount={it.feeUsdc} />,
      value: (it) => Number(it.feeUsdc),
      isNumber: true,
    },
    {
      name: "Asked",
      cell: (it) => <Time at={it.assignedAt} />,
      value: (it) => it.assignedAt,
      isNumber: true,
    },
  ];
}

function Open({ due, now }: { due: number | null; now: number }) {
  if (due !== null && due < now) return <span class="badge warn">unanswered</span>;
  return <span class="badge">open</span>;
}

export const DECISION_COLUMNS: Column<Decision>[] = [
  {
    name: "Decided",
    cell: (it) => <State code={it.decision === "ROLLBACK" ? "ROLLED_BACK" : "DISMISSED"} />,
    value: (it) => it.decision,
  },
  { name: "Hire", cell: (it) => <HireLink id={it.auditedHire} />, value: (it) => it.auditedHire },
  {
    name: "Reasons",
    cell: (it) => (
      <span class="wrap">
        {it.reasons.map(({ code, detail }) => `${words(code)}: ${plainText(detail, 160)}`).join("; ")}
      </span>
    ),
    value: (it) => it.reasons.map(({ code, detail }) => `${code}: ${detail}`).join("; "),
  },
  { name: "By", cell: (it) => <Address address={it.operator} />, value: (it) => it.operator },
  {
    name: "Record",
    cell: ({ entry }) => (
      <a href={linkTo.ledger(entry.ledger, { entry: String(entry.seq) })}>entry {formatNumber(entry.seq)}</a>
    ),
    value: ({ entry }) => entry.seq,
    isNumber: true,
  },
  { name: "When", cell: (it) => <Time at={it.time} />, value: (it) => it.time, isNumber: true },
];

export const AUDITOR_COLUMNS: Column<AuditorOffer>[] = [
  { name: "Auditor", cell: (it) => <Address address={it.address} />, value: (it) => it.address },
  {
    name: "Offers itself",
    cell: (it) =>
      it.removedFor !== null ? (
        <span class="badge bad">taken off: {words(it.removedFor)}</span>
      ) : (
        <span class={`badge ${it.active ? "good" : ""}`}>{it.active ? "yes" : "no"}</span>
      ),
    value: (it) => it.removedFor ?? String(it.active),
  },
  {
    name: "Answered",
    cell: (it) => `${formatNumber(it.answered)} of ${formatNumber(it.assigned)}`,
    value: (it) => it.answered,
    isNumber: true,
  },
  {
    name: "Wrong fails",
    cell: (it) => `${formatNumber(it.wrongFails)} of ${formatNumber(it.judged)}`,
    value: (it) => it.wrongFails,
    isNumber: true,
  },
  {
    name: "Wrong passes",
    cell: (it) => `${formatNumber(it.wrongPasses)} of ${formatNumber(it.judged)}`,
    value: (it) => it.wrongPasses,
    isNumber: true,
  },
  {
    name: "Bad failed",
    cell: (it) => <Measured of={it} name="badFailed" />,
    value: (it) => sharesOf(it, "badFailed") || null,
    isNumber: true,
  },
  {
    name: "Good passed",
    cell: (it) => <Measured of={it} name="goodPassed" />,
    value: (it) => sharesOf(it, "goodPassed") || null,
    isNumber: true,
  },
  {
    name: "Earned",
    cell: (it) => <Usdc amount={it.accruedUsdc} />,
    value: (it) => Number(it.accruedUsdc),
    isNumber: true,
  },
  {
    name: "Owed",
    cell: (it) => <Usdc amount={it.owedUsdc} />,
    value: (it) => Number(it.owedUsdc),
    isNumber: true,
  },
];

type Kind = "badFailed" | "goodPassed";

function sharesOf({ errors }: AuditorOffer, name: Kind): string {
  return errors.nodes.map((it) => `${it.capability} ${it[name].count}/${it[name].of}`).join(" ");
}

/** The most capabilities for which an auditor's errors are shown. */
const MAX_MEASURED = 8;

/** A share that was measured on arranged hires, with its confidence interval. */
function Measured({ of, name }: { of: AuditorOffer; name: Kind }) {
  const measured = of.errors.nodes.filter((it) => it[name].of > 0).slice(0, MAX_MEASURED);
  if (measured.length === 0)
    return (
      <span class="soft" title="not measured">
        –
      </span>
    );
  return (
    <span class="stack tight">
      {measured.map((it) => (
        <span key={it.capability} title={intervalOf(it[name])}>
          {it[name].count} of {it[name].of} <span class="soft">{plainText(it.capability, 128)}</span>
        </span>
      ))}
    </span>
  );
}

function intervalOf({ interval }: MeasuredShare): string {
  return `With 95% confidence ${formatRate(interval[0])} to ${formatRate(interval[1])}`;
}
