/**
 * A copy of a row with other values in some columns. `{ ...row, ...change }` gives the same, but where rows of more than a few
 * tables are copied in one place, V8 13.6 takes more than ten times as long for it (docs/adr/0032).
 */
export function changed<R extends object>(row: R, change: object): R {
  return Object.assign({}, row, change);
}
