import { AUDIT_COLUMNS, words } from "../audits/columns.tsx";
import { Address } from "../design/Address.tsx";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { formatAmount, formatNumber, formatRate, plainText } from "../design/format.ts";
import { Notice } from "../design/Notice.tsx";
import { Time } from "../design/Time.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { linkTo } from "../router/route.ts";
import type { Agent } from "./agentQuery.ts";
import type { BuyerFamily, SlaReport, StewardReport } from "./trustQuery.ts";

/** The latest audits of an agent's hires. Shows nothing if there are none. */
export function AuditsCard({ agent: { audits } }: { agent: Agent }) {
  if (audits.nodes.length === 0) return null;
  return (
    <section class="card" aria-labelledby="audits">
      <div class="head">
        <h2 id="audits">Audits of its hires</h2>
        <a href={linkTo.audits()}>All audits</a>
      </div>
      <DataTable
        caption="Audits of its hires"
        columns={AUDIT_COLUMNS}
        rows={audits.nodes}
        keyOf={(it) => it.id}
        total={audits.totalCount}
        empty="None."
      />
    </section>
  );
}

const FAMILIES: Column<BuyerFamily>[] = [
  {
    name: "Family of",
    cell: ({ family }) =>
      family.id === "deep" ? (
        <span class="soft">wallets whose first funder is too many transfers away</span>
      ) : (
        <Address address={family.id} />
      ),
    value: ({ family }) => family.id,
  },
  {
    name: "Counts",
    cell: (it) => (
      <span class={`badge ${it.isIndependent ? "good" : "warn"}`}>
        {it.isIndependent
          ? it.isEstablished
            ? "independent, established"
            : "independent"
          : "not independent"}
      </span>
    ),
    value: (it) => String(it.isIndependent),
  },
  { name: "Hires", cell: (it) => formatNumber(it.hires), value: (it) => it.hires, isNumber: true },
  {
    name: "Good",
    cell: (it) => `${formatNumber(it.successes)} of ${formatNumber(it.ratedHires)}`,
    value: (it) => it.successes,
    isNumber: true,
  },
  {
    name: "Paid",
    cell: (it) => <Usdc amount={it.paidUsdc} />,
    value: (it) => Number(it.paidUsdc),
    isNumber: true,
  },
  {
    name: "Kept",
    cell: (it) => <Usdc amount={it.keptUsdc} />,
    value: (it) => Number(it.keptUsdc),
    isNumber: true,
  },
  {
    name: "It buys from",
    cell: ({ family }) => `${formatNumber(family.sellerFamilies)} families`,
    value: ({ family }) => family.sellerFamilies,
    isNumber: true,
  },
];

/** Which families of wallets bought from an agent. */
export function IndependenceCard({ agent }: { agent: Agent }) {
  const { independence } = agent;
  if (independence === null) return null;
  const families = independence.buyerFamilies.nodes;
  return (
    <section class="card" aria-labelledby="independence">
      <div class="head">
        <h2 id="independence">Who stands behind its hires</h2>
        <span class="soft">wallets are one family when their money began with the same wallet</span>
      </div>
      <dl class="tiles by-six">
        <Tile name="independent families bought" value={formatNumber(agent.independentBuyers)} />
        <Tile name="of those established" value={formatNumber(agent.establishedBuyers)} />
        <Tile name="success, one vote a family" value={formatRate(agent.independentSuccessRate)} />
        <Tile name="earned and not sent back, USDC" value={formatAmount(agent.keptUsdc)} />
        <Tile name="fees that cannot come back, USDC" value={formatAmount(agent.feesPaidUsdc)} />
        <Tile name="of its payments have a receipt" value={formatRate(agent.receiptCoverage)} />
      </dl>
      <DataTable
        caption="Families that bought"
        columns={FAMILIES}
        rows={families}
        keyOf={({ family }) => family.id}
        empty="Nobody bought from it in the last 30 days."
      />
    </section>
  );
}

function Tile({ name, value }: { name: string; value: string }) {
  return (
    <div class="tile">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** The most badges and requirements that are shown. */
const [MAX_BADGES, MAX_REQUIREMENTS] = [20, 40];

const SCORE_TIERS: { [tier: string]: string } = {
  HIGHLY_TRUSTED: "good",
  TRUSTED: "good",
  VERIFIED: "claimed",
};

const FACTORS: Column<StewardReport["factors"][number]>[] = [
  { name: "Factor", cell: (it) => words(it.name), value: (it) => it.name },
  { name: "Value", cell: (it) => formatRate(it.value), value: (it) => it.value, isNumber: true },
  { name: "Weight", cell: (it) => formatRate(it.weight), value: (it) => it.weight, isNumber: true },
  {
    name: "Adds",
    cell: (it) => formatNumber(it.contribution),
    value: (it) => it.contribution,
    isNumber: true,
  },
  { name: "Rests on", cell: (it) => words(it.source), value: (it) => it.source },
];

/** The trust score of an agent. Shows nothing if the agent has none. */
export function StewardCard({ agent }: { agent: Agent }) {
  if (agent.steward === null) return null;
  return <Score report={agent.steward} address={agent.address} />;
}

function Score({ report, address }: { report: StewardReport; address: string }) {
  const { score, tier, badges, factors, requirements, suspendedUntil, computedAt, slaFactor } = report;
  const unmet = requirements.filter(({ isMet }) => !isMet).slice(0, MAX_REQUIREMENTS);
  return (
    <section class="card" aria-labelledby="steward">
      <div class="head">
        <h2 id="steward" class="row">
          Trust score {formatNumber(score)}{" "}
          <span class={`badge ${SCORE_TIERS[tier] ?? ""}`}>{words(tier)}</span>
          {badges.slice(0, MAX_BADGES).map((it) => (
            <span key={it} class="badge">
              {words(it)}
            </span>
          ))}
        </h2>
        <span class="soft">
          STEWARD, as of <Time at={computedAt} />; advice: no tier depends on it
        </span>
      </div>
      {suspendedUntil !== null && (
        <Notice kind="bad" title="Suspended for a breach of its SLA">
          It takes no new hires before <Time at={suspendedUntil} isDate />.
        </Notice>
      )}
      <DataTable
        caption="Factors of the trust score"
        columns={FACTORS}
        rows={factors}
        keyOf={(it) => it.name}
        empty="None."
      />
      {slaFactor !== "1" && slaFactor !== "1/1" && (
        <p class="soft small">
          Because of breaches of its SLA, the score is multiplied by {plainText(slaFactor, 60)}.
        </p>
      )}
      {unmet.length > 0 && (
        <details>
          <summary>What the next tiers ask for</summary>
          <ul class="plain">
            {unmet.map((it) => (
              <li key={`${it.tier} ${it.metric}`}>
                {words(it.tier)}: {words(it.metric)} above {formatNumber(it.above)}
              </li>
            ))}
          </ul>
        </details>
      )}
      <p class="soft small">
        Its signed report: <code>/v1/agents/{address}/trust-report</code>. Drop the file on{" "}
        <a href={linkTo.verify()}>Verify</a> to check the signature.
      </p>
    </section>
  );
}

type Guarantee = SlaReport["guarantees"][number];
type Breach = SlaReport["breaches"]["nodes"][number];

const STATUS: { [status: string]: string } = {
  compliant: "good",
  at_risk: "warn",
  breached: "bad",
  confirmed: "bad",
};

function Status({ status }: { status: string }) {
  return <span class={`badge ${STATUS[status] ?? ""}`}>{words(status)}</span>;
}

/** Formats a measured value: a share as a percentage, a value above 1 as milliseconds. */
function measured(value: number | null): string {
  if (value === null) return "no data";
  return value <= 1 ? formatRate(value) : `${formatNumber(value)} ms`;
}

const GUARANTEES: Column<Guarantee>[] = [
  { name: "Guarantees", cell: (it) => words(it.metric), value: (it) => it.metric },
  { name: "Target", cell: (it) => measured(it.target), value: (it) => it.target, isNumber: true },
  { name: "Now", cell: (it) => measured(it.current), value: (it) => it.current, isNumber: true },
  { name: "Over", cell: (it) => words(it.measurementWindow), value: (it) => it.measurementWindow },
  { name: "Status", cell: (it) => <Status status={it.status} />, value: (it) => it.status },
];

const BREACHES: Column<Breach>[] = [
  { name: "Breach of", cell: (it) => words(it.metric), value: (it) => it.metric },
  { name: "Found", cell: (it) => measured(it.value), value: (it) => it.value, isNumber: true },
  { name: "Status", cell: (it) => <Status status={it.status} />, value: (it) => it.status },
  {
    name: "Owed",
    cell: (it) => <Usdc amount={it.owedUsdc} />,
    value: (it) => Number(it.owedUsdc),
    isNumber: true,
  },
  { name: "When", cell: (it) => <Time at={it.detectedAt} />, value: (it) => it.detectedAt, isNumber: true },
];

/** What an agent guarantees. Shows nothing if the agent has no SLA. */
export function SlaCard({ agent: { sla } }: { agent: Agent }) {
  return sla === null ? null : <Sla sla={sla} />;
}

function Sla({ sla }: { sla: SlaReport }) {
  const { guarantees, breaches, overallStatus, version, trustScoreImpact } = sla;
  return (
    <section class="card" aria-labelledby="sla">
      <div class="head">
        <h2 id="sla" class="row">
          What it guarantees <Status status={overallStatus} />
        </h2>
        <span class="soft">
          its SLA, version {plainText(version, 30)}
          {trustScoreImpact < 0 && `; breaches take ${formatNumber(-trustScoreImpact)} from the trust score`}
        </span>
      </div>
      <DataTable
        caption="Guarantees"
        columns={GUARANTEES}
        rows={guarantees}
        keyOf={(it) => it.id}
        empty="It guarantees nothing now."
      />
      {breaches.nodes.length > 0 && (
        <DataTable
          caption="Breaches"
          columns={BREACHES}
          rows={breaches.nodes}
          keyOf={(it) => it.id}
          empty="None."
        />
      )}
    </section>
  );
}
