import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { csvOf } from "./csv.ts";
import { Icon } from "./Icon.tsx";
import { Empty } from "./States.tsx";

export type Column<Row> = {
  name: string;
  cell: (row: Row) => ComponentChildren;
  /** The value for sorting and for the CSV file; null sorts last. */
  value: (row: Row) => string | number | null;
  isNumber?: boolean;
  /** Whether the cells have a few words. On a tablet they wrap into two lines before the table scrolls. */
  isWords?: boolean;
};

/** The most rows that are shown. The CSV file has all rows. */
const MAX_SHOWN = 200;

/** A table of at least `MIN_FOLDED` rows shows only the first `FOLDED` rows until the reader asks for all. */
const [FOLDED, MIN_FOLDED] = [8, 14];

type Order = { column: number; isDown: boolean } | null;

/**
 * A table that the reader can sort by any column and save as CSV. The first column is the heading of each
 * row. On a phone each row is a card, in which every value has its column's name.
 */
export function DataTable<Row>(props: {
  /** The name of the table, for screen readers and as the name of the CSV file. */
  caption: string;
  columns: Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: ComponentChildren;
  /** Number of rows of the whole list, if `rows` has only the first ones. */
  total?: number | undefined;
}) {
  const { caption, columns, rows, keyOf, empty, total } = props;
  const [order, setOrder] = useState<Order>(null);
  const [isOpen, setOpen] = useState(false);
  const table = useRef<HTMLTableElement>(null);
  // Once the table is unfolded, the button for that is gone. The first new row gets the focus before anything else can
  // take it.
  useLayoutEffect(() => {
    if (isOpen) table.current?.tBodies[0]?.rows[FOLDED]?.querySelector<HTMLElement>("a, button, th")?.focus();
  }, [isOpen]);
  if (rows.length === 0) return <Empty>{empty}</Empty>;
  const sorted = order === null ? rows : sortedBy(rows, columns[order.column], order.isDown);
  const isFolded = !isOpen && rows.length >= MIN_FOLDED;
  const sortBy = (column: number) =>
    setOrder((now) => {
      const isDown = columns[column]?.isNumber === true;
      return now?.column === column ? { column, isDown: !now.isDown } : { column, isDown };
    });
  return (
    <div class="stack">
      {/* A reader with a keyboard reaches every column, also the hidden ones, because each heading has a button. */}
      <div class="table-box">
        <table ref={table}>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column, n) => (
                <HeadCell key={column.name} column={column} order={order} n={n} sortBy={sortBy} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.slice(0, isFolded ? FOLDED : MAX_SHOWN).map((row) => (
              <tr key={keyOf(row)}>
                {columns.map((column, n) =>
                  n === 0 ? (
                    <th key={column.name} scope="row" tabIndex={-1}>
                      {column.cell(row)}
                    </th>
                  ) : (
                    <td key={column.name} class={classOf(column, row)} data-name={column.name}>
                      {column.cell(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="row small soft below">
        <button type="button" class="button plain small csv" onClick={() => save(caption, columns, sorted)}>
          <Icon name="download" size={14} /> CSV
        </button>
        {isFolded && (
          <button type="button" class="button small" onClick={() => setOpen(true)}>
            Show all {Math.min(rows.length, MAX_SHOWN).toLocaleString("en")} rows
          </button>
        )}
        {rows.length > MAX_SHOWN && (
          <span>
            {MAX_SHOWN} of {rows.length.toLocaleString("en")} shown; the CSV file has all
          </span>
        )}
        {rows.length <= MAX_SHOWN && total !== undefined && total > rows.length && (
          <span>
            {rows.length} of {total.toLocaleString("en")}
          </span>
        )}
      </div>
    </div>
  );
}

/** The CSS classes of a cell. The class `none` hides a cell without a value on a card. */
function classOf<Row>(column: Column<Row>, row: Row): string | undefined {
  const { isNumber = false, isWords = false, value } = column;
  const isNone = (value(row) ?? "") === "";
  const names = [isNumber && "number", isWords && "words", isNone && "none"].filter((it) => it !== false);
  return names.length === 0 ? undefined : names.join(" ");
}

function HeadCell<Row>(props: { column: Column<Row>; order: Order; n: number; sortBy: (n: number) => void }) {
  const { column, order, n, sortBy } = props;
  const isSorted = order?.column === n;
  return (
    <th
      scope="col"
      class={column.isNumber && n > 0 ? "number" : undefined}
      aria-sort={isSorted ? (order.isDown ? "descending" : "ascending") : undefined}
    >
      <button type="button" class="sort" onClick={() => sortBy(n)}>
        {column.name} <Icon name="up" size={10} />
      </button>
    </th>
  );
}

function sortedBy<Row>(rows: readonly Row[], column: Column<Row> | undefined, isDown: boolean): Row[] {
  if (column === undefined) return [...rows];
  const sign = isDown ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [one, other] = [column.value(a), column.value(b)];
    if (one === null || other === null) return one === other ? 0 : one === null ? 1 : -1;
    if (typeof one === "number" && typeof other === "number") return sign * (one - other);
    return sign * String(one).localeCompare(String(other), "en", { numeric: true });
  });
}

function save<Row>(caption: string, columns: Column<Row>[], rows: readonly Row[]): void {
  const lines = rows.map((row) => columns.map((column) => column.value(row)));
  const text = csvOf([columns.map((column) => column.name), ...lines]);
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${caption.toLowerCase().replace(/[^a-z0-9]+/g, "-")}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
