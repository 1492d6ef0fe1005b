import { useState } from "preact/hooks";
import { Address, Hash } from "../design/Address.tsx";
import { plainText } from "../design/format.ts";
import { Icon } from "../design/Icon.tsx";
import { Notice } from "../design/Notice.tsx";
import { Answered } from "../design/States.tsx";
import { signedText } from "../design/signedText.ts";
import { Time } from "../design/Time.tsx";
import { useFocusOnChange } from "../design/useFocusOnChange.ts";
import { askGraphql } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { linkTo } from "../router/route.ts";
import { EntryCheck } from "../verify/EntryCheck.tsx";
import { ENTRY, ENTRY_BY_HASH, type EntryAnswer, type LedgerEntry } from "./ledgerQuery.ts";
import { readEntryName } from "./readEntryName.ts";

type Props = { ledger: string; wanted: string | null; told: LedgerEntry | null | undefined };

/**
 * Finds one entry of a ledger by its number or its hash, and shows it with its proof.
 * @param told the wanted entry from the page's own answer; null if the node has no such entry; undefined if this card
 * has to ask for it
 */
export function EntryCard(props: Props) {
  const { wanted } = props;
  const name = wanted === null ? undefined : readEntryName(wanted);
  const heading = useFocusOnChange(wanted);
  return (
    <section class="card" aria-labelledby="entry">
      <h2 id="entry" ref={heading} tabIndex={-1}>
        {name === undefined ? "Find an entry" : `Entry ${shown(name)}`}
      </h2>
      <Wanted key={wanted} {...props} name={name} />
    </section>
  );
}

function Wanted({ ledger, wanted, told, name }: Props & { name: number | string | undefined }) {
  const [isBad, setBad] = useState(false);
  const find = (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get("entry") ?? "");
    const found = readEntryName(text);
    setBad(found === undefined);
    if (found !== undefined) location.hash = linkTo.ledger(ledger, { entry: String(found) });
  };
  return (
    <>
      <form class="row" onSubmit={find} aria-label="Find an entry">
        <input
          type="search"
          name="entry"
          class="grow"
          aria-label="An entry's number or hash"
          placeholder="Number, from 0, or hash"
          defaultValue={wanted ?? ""}
          aria-invalid={isBad}
          autocomplete="off"
          spellcheck={false}
          onInput={() => setBad(false)}
        />
        <button type="submit" class="button">
          <Icon name="search" /> Find
        </button>
        {isBad && (
          <p role="alert" class="small">
            A number counts from 0; a hash has 64 hex digits.
          </p>
        )}
      </form>
      {name !== undefined &&
        (told === undefined ? (
          <Found ledger={ledger} name={name} />
        ) : (
          <Shown entry={told} ledger={ledger} name={name} />
        ))}
    </>
  );
}

function shown(name: number | string): string {
  return typeof name === "number" ? name.toLocaleString("en") : `${name.slice(0, 8)}…`;
}

function Found({ ledger, name }: { ledger: string; name: number | string }) {
  const question =
    typeof name === "number"
      ? { query: ENTRY, variables: { ledger, seq: name } }
      : { query: ENTRY_BY_HASH, variables: { hash: name } };
  const asked = useAnswer<EntryAnswer>(`entry ${ledger} ${name}`, (signal) =>
    askGraphql<EntryAnswer>(question, signal),
  );
  return (
    <Answered asked={asked} what="the entry">
      {({ entry }) => <Shown entry={entry} ledger={ledger} name={name} />}
    </Answered>
  );
}

function Shown(props: { entry: LedgerEntry | null; ledger: string; name: number | string }) {
  const { entry, ledger, name } = props;
  if (entry === null)
    return (
      <Notice kind="info" title="No such entry">
        This node has loaded no such entry of the ledger.
      </Notice>
    );
  const { record, hash } = entry;
  const isAsked = typeof name === "number" ? entry.seq === name : hash.replace(/^0x/, "") === name;
  return (
    <>
      {!isAsked && (
        <Notice kind="bad" title="The node answers with another entry" isLive>
          It was asked for {typeof name === "number" ? `entry ${name}` : `the entry of hash ${name}`}.
        </Notice>
      )}
      {entry.ledger !== ledger && (
        <Notice kind="warn" title="It stands in another ledger">
          The entry of this hash was found in the ledger below.
        </Notice>
      )}
      <dl class="facts">
        <dt>Type</dt>
        <dd>{plainText(record?.type ?? entry.type ?? "settlement", 60)}</dd>
        <dt>Hash</dt>
        <dd>
          <Hash hash={hash} what="the entry's hash" />
        </dd>
        {record !== null && (
          <>
            <dt>Signed by</dt>
            <dd>
              <Address address={record.signer} isCopied />
            </dd>
            <dt>Counts</dt>
            <dd>{record.valid ? "yes" : `no: ${plainText(record.reason ?? "", 80)}`}</dd>
            <dt>Anchored</dt>
            <dd>
              <Time at={record.time} />
            </dd>
          </>
        )}
      </dl>
      <EntryCheck entry={entry} isLinked={false} />
      {record !== null && (
        <details>
          <summary>What was signed</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach an element that scrolls (WCAG 2.1.1). */}
          {/* biome-ignore lint/a11y/useSemanticElements: this is not a set of fields. */}
          <pre tabIndex={0} role="group" aria-label="What was signed">
            {signedText(record.body)}
          </pre>
        </details>
      )}
    </>
  );
}
