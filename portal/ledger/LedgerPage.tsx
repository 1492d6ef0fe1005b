import { useState } from "preact/hooks";
import { Address, Hash } from "../design/Address.tsx";
import { AsQuery } from "../design/AsQuery.tsx";
import { entriesOf } from "../design/countOf.ts";
import { formatNumber, plainText, shortHash } from "../design/format.ts";
import { Notice } from "../design/Notice.tsx";
import { Answered } from "../design/States.tsx";
import { Time } from "../design/Time.tsx";
import { askGraphql, type Question } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { useTitle } from "../shell/useTitle.ts";
import { ChainCard } from "../verify/ChainCard.tsx";
import { EntryCard } from "./EntryCard.tsx";
import { EntryList, recordTypeOf } from "./EntryList.tsx";
import { HeadsCard } from "./HeadsCard.tsx";
import { LEDGER, LEDGER_ENTRY, LEDGER_ENTRY_BY_HASH, type Ledger, type LedgerAnswer } from "./ledgerQuery.ts";
import { readEntryName } from "./readEntryName.ts";
import { TileCard } from "./TileCard.tsx";

const NOBODY = `0x${"0".repeat(40)}`;

/**
 * The page of a ledger: its writer, its anchored heads and its entries. The reader can verify all of them
 * here.
 */
export function LedgerPage({ id, search }: { id: string; search: URLSearchParams }) {
  useTitle(`Ledger ${shortHash(id)}`);
  const entry = search.get("entry");
  // The entry that opened the page comes in the same answer. For another entry the page
  // sends a query of its own, and the rest of the page stays.
  const [first] = useState(entry);
  const question = questionOf(id, search, first);
  const asked = useAnswer<LedgerAnswer>(
    `ledger ${JSON.stringify(question.variables)}`,
    (signal) => askGraphql<LedgerAnswer>(question, signal),
    { isOneList: true },
  );
  return (
    <>
      <Answered asked={asked} what="the ledger" heading={`Ledger ${shortHash(id)}`}>
        {(answer) => (
          <>
            <Head id={id} answer={answer} />
            {answer.ledger !== null && (
              <>
                <EntryCard ledger={id} wanted={entry} told={entry === first ? answer.entry : undefined} />
                <EntryList ledger={id} search={search} entries={answer.ledgerEntries} />
              </>
            )}
            {answer.checkpoints.nodes.length > 0 && (
              <HeadsCard
                ledger={id}
                heads={answer.checkpoints.nodes}
                total={answer.checkpoints.totalCount}
                isFollowed={answer.ledger !== null}
              />
            )}
            {answer.ledger !== null && (
              <>
                <ChainCard ledger={id} namedBy="page" />
                <TileCard ledger={answer.ledger} />
              </>
            )}
          </>
        )}
      </Answered>
      <AsQuery question={question} />
    </>
  );
}

function questionOf(id: string, search: URLSearchParams, entry: string | null): Question {
  const variables = { id, after: search.get("after"), type: recordTypeOf(search) };
  const name = entry === null ? undefined : readEntryName(entry);
  if (name === undefined) return { query: LEDGER, variables };
  return typeof name === "number"
    ? { query: LEDGER_ENTRY, variables: { ...variables, seq: name } }
    : { query: LEDGER_ENTRY_BY_HASH, variables: { ...variables, hash: name } };
}

function Head({ id, answer }: { id: string; answer: LedgerAnswer }) {
  const { ledger, checkpoints } = answer;
  if (ledger === null && checkpoints.nodes.length === 0)
    return (
      <div class="stack">
        <h1>No such ledger</h1>
        <Notice kind="info" title={plainText(id, 80)}>
          Nothing was anchored under this id in the contract that this node reads.
        </Notice>
      </div>
    );
  return (
    <>
      <div class="stack">
        <h1>{plainText(ledger?.origin ?? "A ledger", 120)}</h1>
        <p class="soft">
          <Hash hash={id} what="the ledger's id" />
        </p>
      </div>
      {ledger === null ? (
        <Notice kind="info" title="This node does not follow it">
          The node shows the anchored heads, and knows nothing of the ledger's entries.
        </Notice>
      ) : (
        <Facts ledger={ledger} anchors={checkpoints.totalCount} />
      )}
    </>
  );
}

function Facts({ ledger, anchors }: { ledger: Ledger; anchors: number }) {
  const { size, time, writer, firstWriter, guardian, root, equivocation } = ledger;
  return (
    <>
      {equivocation !== null && (
        <Notice kind="bad" title="Its writer signed two histories">
          The contract marked it in block {equivocation.block}, at {entriesOf(Number(equivocation.size))}.
          Nodes load nothing more of it.
        </Notice>
      )}
      <dl class="tiles">
        <div class="tile">
          <dt>entries</dt>
          <dd>{formatNumber(size)}</dd>
        </div>
        <div class="tile">
          <dt>anchors</dt>
          <dd>{formatNumber(anchors)}</dd>
        </div>
        <div class="tile">
          <dt>last anchor</dt>
          <dd>
            <Time at={time} />
          </dd>
        </div>
      </dl>
      <section class="card" aria-labelledby="about">
        <h2 id="about">Whose it is</h2>
        <dl class="facts">
          <dt>Writer</dt>
          <dd>{writer === null ? "–" : <Address address={writer} isCopied />}</dd>
          {firstWriter !== null && firstWriter !== writer && (
            <>
              <dt>First writer</dt>
              <dd>
                <Address address={firstWriter} isCopied />
              </dd>
            </>
          )}
          <dt>Guardian</dt>
          <dd>
            {guardian === null || guardian === NOBODY ? (
              <span class="soft">only the writer can announce another writer</span>
            ) : (
              <Address address={guardian} isCopied />
            )}
          </dd>
          <dt>Root</dt>
          <dd>
            <Hash hash={root} what="the root" />
          </dd>
        </dl>
      </section>
    </>
  );
}
