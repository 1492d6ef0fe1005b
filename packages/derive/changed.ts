/**
 * A copy of a row with other values in some columns. `{ ...row, ...change }` gives the same, but can be slow: if one
 * place in the code copies rows of many tables, V8 13.6 takes more than ten times as long (docs/adr/0032).
 */
export function changed<R extends object>(row: R, change: object): R {
  return Object.assign({}, row, change);
}
