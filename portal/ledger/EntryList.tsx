import { Address, Hash } from "../design/Address.tsx";
import { type Column, DataTable } from "../design/DataTable.tsx";
import { plainText } from "../design/format.ts";
import { Time } from "../design/Time.tsx";
import { useFocusOnChange } from "../design/useFocusOnChange.ts";
import { linkTo } from "../router/route.ts";
import type { LedgerAnswer, LedgerLine } from "./ledgerQuery.ts";

/** The types that a reader can filter by. */
const TYPES = [
  "receipt",
  "listing",
  "rating",
  "params",
  "review",
  "audit_verdict",
  "audit_actuation",
  "claim",
];

function columnsOf(ledger: string): Column<LedgerLine>[] {
  return [
    {
      name: "Entry",
      cell: ({ seq }) => (
        <a href={linkTo.ledger(ledger, { entry: String(seq) })}>{seq.toLocaleString("en")}</a>
      ),
      value: ({ seq }) => seq,
      isNumber: true,
    },
    { name: "Type", cell: typeOf, value: typeOf },
    {
      name: "Signed by",
      cell: ({ record }) =>
        record === null ? <span class="soft">–</span> : <Address address={record.signer} />,
      value: ({ record }) => record?.signer ?? null,
    },
    {
      name: "Counts",
      cell: ({ record }) =>
        record === null ? (
          <span class="soft">–</span>
        ) : record.valid ? (
          <span class="badge good">valid</span>
        ) : (
          <span class="badge bad">{plainText(record.reason ?? "no", 40)}</span>
        ),
      value: ({ record }) => (record === null ? null : record.valid ? "valid" : (record.reason ?? "no")),
    },
    {
      name: "Anchored",
      cell: ({ record }) => (record === null ? <span class="soft">–</span> : <Time at={record.time} />),
      value: ({ record }) => record?.time ?? null,
      isNumber: true,
    },
    {
      name: "Hash",
      cell: ({ hash }) => <Hash hash={hash} what="the entry's hash" />,
      value: (it) => it.hash,
    },
  ];
}

/** The type by which the address filters; null if it names none. It may come from a stranger's link. */
export function recordTypeOf(search: URLSearchParams): string | null {
  const type = search.get("type");
  return type !== null && /^[a-z_]{1,40}$/.test(type) ? type : null;
}

function typeOf({ record, type }: LedgerLine): string {
  return plainText(record?.type ?? type ?? "settlement", 60).replaceAll("_", " ");
}

/** Lists the entries of a ledger, the latest first, one page at a time. */
export function EntryList(props: {
  ledger: string;
  search: URLSearchParams;
  entries: LedgerAnswer["ledgerEntries"];
}) {
  const { ledger, search, entries } = props;
  const { hasNextPage, endCursor } = entries.pageInfo;
  const type = recordTypeOf(search) ?? "";
  const isFirst = search.get("after") === null;
  const heading = useFocusOnChange(search.get("after") ?? "the latest");
  const typed: { [name: string]: string } = type === "" ? {} : { type };
  return (
    <section class="card" aria-labelledby="entries">
      <div class="head">
        <h2 id="entries" ref={heading} tabIndex={-1}>
          Entries
        </h2>
        <span class="soft">the latest first</span>
      </div>
      <nav class="chips" aria-label="Types">
        {["", ...TYPES].map((it) => (
          <a
            key={it}
            class="chip"
            href={linkTo.ledger(ledger, it === "" ? {} : { type: it })}
            aria-current={it === type ? "true" : undefined}
          >
            {it === "" ? "all" : it.replaceAll("_", " ")}
          </a>
        ))}
      </nav>
      <DataTable
        caption="Entries"
        columns={columnsOf(ledger)}
        rows={entries.nodes}
        keyOf={(it) => it.id}
        empty={type === "" ? "It has no entries yet." : `It has no entries of type ${type}.`}
      />
      <div class="row">
        {!isFirst && (
          <a class="button" href={linkTo.ledger(ledger, typed)}>
            The latest
          </a>
        )}
        {hasNextPage && endCursor !== null && (
          <a class="button" href={linkTo.ledger(ledger, { ...typed, after: endCursor })}>
            Older entries
          </a>
        )}
      </div>
    </section>
  );
}
