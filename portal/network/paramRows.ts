import type { Params, ParamsRecord } from "./networkQuery.ts";

/** One value of the parameters: its path with dots, and the value as text. */
export type ParamRow = { path: string; value: string };

/** A change of one value by a record of parameters. */
export type ParamChange = {
  id: string;
  version: number;
  time: number;
  ledger: string;
  seq: number;
  path: string;
  from: string | null;
  to: string | null;
};

/** Fields of the signed record that are not parameters. */
const FORM = ["type", "ledger", "version"];

/**
 * Lists every value of the parameters with its path. A fraction is one value, and so is a list of plain
 * values.
 */
export function paramRows(params: Params): ParamRow[] {
  const rows: ParamRow[] = [];
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value) && value.every((it) => typeof it !== "object" || it === null))
      rows.push({ path, value: value.length === 0 ? "nobody" : value.join(", ") });
    else if (isShare(value)) rows.push({ path, value: `${value.numerator}/${value.denominator}` });
    else if (value !== null && typeof value === "object")
      for (const [name, it] of Object.entries(value)) walk(it, path === "" ? name : `${path}.${name}`);
    else rows.push({ path, value: value === null ? "nobody" : String(value) });
  };
  for (const [name, value] of Object.entries(params)) if (!FORM.includes(name)) walk(value, name);
  return rows;
}

function isShare(value: unknown): value is { numerator: number; denominator: number } {
  return Object.keys(Object(value)).join() === "denominator,numerator" || "numerator" in Object(value);
}

/**
 * The changes of each valid record, compared with the valid record before it, the latest first. The oldest record has
 * nothing before it, so it gives one row for all parameters.
 */
export function paramChanges(history: readonly ParamsRecord[]): ParamChange[] {
  const counted = history.flatMap(({ ledger, seq, record }) =>
    record?.valid && record.body !== null ? [{ ledger, seq, time: record.time, body: record.body }] : [],
  );
  return counted.flatMap(({ ledger, seq, time, body }, n) => {
    const before = counted[n + 1];
    const version = Number(body.version ?? 0);
    const base = { version, time, ledger, seq };
    if (before === undefined)
      return [{ ...base, id: `${ledger}/${seq}`, path: "all of them", from: null, to: "published first" }];
    const [was, is] = [before.body, body].map(
      (it) => new Map(paramRows(it).map((row) => [row.path, row.value])),
    );
    const paths = [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])];
    return paths
      .filter((path) => was?.get(path) !== is?.get(path))
      .map((path) => ({
        ...base,
        id: `${ledger}/${seq}/${path}`,
        path,
        from: was?.get(path) ?? null,
        to: is?.get(path) ?? null,
      }));
  });
}
