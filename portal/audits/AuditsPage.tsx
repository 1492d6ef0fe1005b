import { Address } from "../design/Address.tsx";
import { AsQuery } from "../design/AsQuery.tsx";
import { DataTable } from "../design/DataTable.tsx";
import { formatNumber, plainText } from "../design/format.ts";
import { Answered, Empty } from "../design/States.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { askGraphql } from "../node/askGraphql.ts";
import { useNodeState } from "../node/nodeStateStore.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { linkTo } from "../router/route.ts";
import { useTitle } from "../shell/useTitle.ts";
import { AUDITS, type Audits, type OperatorFigures } from "./auditsQuery.ts";
import { AUDIT_COLUMNS, AUDITOR_COLUMNS, assignmentColumns, DECISION_COLUMNS, words } from "./columns.tsx";

/** The most operators, and the most capabilities of each, that are shown. */
const [MAX_OPERATORS, MAX_MODES] = [10, 25];

const QUESTION = { query: AUDITS, variables: {} };

/**
 * The page of audits: which hires were drawn, who judged them, what the operators decided, and how well
 * auditors judge.
 */
export function AuditsPage() {
  useTitle("Audits");
  const asked = useAnswer<Audits>("audits", (signal) => askGraphql<Audits>(QUESTION, signal));
  return (
    <>
      <div class="lead">
        <h1>Second looks at finished hires</h1>
        <p>
          The hash of one block draws the hires, and the hash of another draws their auditors. So nobody
          chooses them. Each verdict and each decision is a signed record. Silence is counted too.
        </p>
      </div>
      <Answered asked={asked} what="audits">
        {(audits) => <Known audits={audits} />}
      </Answered>
      <AsQuery question={QUESTION} />
    </>
  );
}

function Known({ audits: all }: { audits: Audits }) {
  const { asOf } = useNodeState();
  const { params, audits, auditAssignments, auditActuations, auditors, auditModes, auditOperators } = all;
  const figures = auditOperators.nodes.slice(0, MAX_OPERATORS);
  return (
    <>
      {figures.length === 0 && (
        <Empty>
          {params === null || params.audit.operators.length === 0
            ? "The parameters name no operator of audits, so no hire is drawn."
            : "There are no results of audits yet."}
        </Empty>
      )}
      {figures.map((it) => (
        <Operator
          key={it.address}
          figures={it}
          pool={params?.audit.operators.find(({ address }) => address === it.address)?.pool ?? null}
          modes={auditModes.nodes.filter(({ operator }) => operator === it.address).slice(0, MAX_MODES)}
        />
      ))}
      <section class="card" aria-labelledby="decisions">
        <div class="head">
          <h2 id="decisions">Challenges and decisions</h2>
          <span class="soft">what operators did about hires that failed</span>
        </div>
        <DataTable
          caption="Decisions"
          columns={DECISION_COLUMNS}
          rows={auditActuations.nodes}
          keyOf={(it) => it.hash}
          total={auditActuations.totalCount}
          empty="No operator has decided anything yet."
        />
      </section>
      <section class="card" aria-labelledby="auditors">
        <div class="head">
          <h2 id="auditors">Auditors, and how well they judge</h2>
          <span class="soft">
            measured on hires that the operator arranged, and by comparison with each other
          </span>
        </div>
        <DataTable
          caption="Auditors"
          columns={AUDITOR_COLUMNS}
          rows={auditors.nodes}
          keyOf={(it) => it.id}
          empty="Nobody offers to audit."
        />
      </section>
      <section class="card" aria-labelledby="assignments">
        <div class="head">
          <h2 id="assignments">Who was asked</h2>
          <span class="soft">
            the newest first; an assignment counts as unanswered if its time is over without a verdict
          </span>
        </div>
        <DataTable
          caption="Assignments"
          columns={assignmentColumns(asOf?.time ?? 0)}
          rows={auditAssignments.nodes}
          keyOf={(it) => it.id}
          total={auditAssignments.totalCount}
          empty="Nobody was asked yet."
        />
      </section>
      <section class="card" aria-labelledby="audited">
        <div class="head">
          <h2 id="audited">Hires that were audited, or may still be</h2>
          {params !== null && (
            <span class="soft">
              {formatNumber(params.audit.ratePpm / 10_000)}% are drawn.{" "}
              <a href={linkTo.network()}>All parameters</a>
            </span>
          )}
        </div>
        <DataTable
          caption="Audits"
          columns={AUDIT_COLUMNS}
          rows={audits.nodes}
          keyOf={(it) => it.id}
          total={audits.totalCount}
          empty="No hire is open to audits."
        />
      </section>
    </>
  );
}

const TILES: [name: keyof OperatorFigures, text: string][] = [
  ["drawn", "drawn"],
  ["passed", "passed"],
  ["failed", "failed by auditors"],
  ["undisclosed", "undisclosed"],
  ["unanswered", "unanswered"],
  ["inconclusive", "inconclusive"],
];

const MORE: [name: keyof OperatorFigures, text: string][] = [
  ["equivocal", "Failed because the seller said two different things"],
  ["unassigned", "Nobody could be asked"],
  ["contested", "Drawn because of a refund after delivery"],
  ["rolledBack", "Decided: rolled back"],
  ["dismissed", "Decided: dismissed"],
  ["issued", "Verdicts by the operator itself"],
  ["historyAgreed", "Decisions that auditors confirmed once the capability was mature"],
  ["historyDiffered", "Decisions that auditors contradicted once the capability was mature"],
  ["canariesRevealed", "Revealed lists of arranged hires"],
];

function Operator(props: {
  figures: OperatorFigures;
  pool: string | null;
  modes: Audits["auditModes"]["nodes"];
}) {
  const { figures, pool, modes } = props;
  const id = `operator-${figures.address}`;
  return (
    <section class="card" aria-labelledby={id}>
      <div class="head">
        <h2 id={id} class="row">
          Operator <Address address={figures.address} isCopied />
        </h2>
        {pool === null ? (
          <span class="badge">not in the parameters any more</span>
        ) : (
          <span class="soft row">
            pays from its pool <Address address={pool} isCopied />
          </span>
        )}
      </div>
      <dl class="tiles by-six">
        {TILES.map(([name, text]) => (
          <div class="tile" key={name}>
            <dt>{text}</dt>
            <dd>{formatNumber(figures[name] as number)}</dd>
          </div>
        ))}
      </dl>
      <div class="two even">
        <dl class="facts counts">
          {MORE.map(([name, text]) => (
            <div class="pair" key={name}>
              <dt>{text}</dt>
              <dd>{formatNumber(figures[name] as number)}</dd>
            </div>
          ))}
        </dl>
        <dl class="facts">
          <dt>Earned by auditors</dt>
          <dd>
            <Usdc amount={figures.accruedUsdc} />
          </dd>
          <dt>Paid by the pool</dt>
          <dd>
            <Usdc amount={figures.paidUsdc} />
          </dd>
          <dt>Owed</dt>
          <dd>
            <Usdc amount={figures.owedUsdc} />
          </dd>
          {modes.map(({ capability, mode, recentVerdicts }) => (
            <div class="pair" key={capability}>
              <dt>{plainText(capability, 128)}</dt>
              <dd>
                {words(mode)}, {formatNumber(recentVerdicts)} recent{" "}
                {recentVerdicts === 1 ? "verdict" : "verdicts"}
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </section>
  );
}
