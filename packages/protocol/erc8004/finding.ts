/**
 * The result of one check. `holds` is null when it was not made, and `detail` then says why. `field` is the
 * place in the file, or what was compared with it on the chain.
 */
export type Finding = { field: string; holds: boolean | null; detail: string };

/** A check that was made. */
export function finding(field: string, holds: boolean, right: string, wrong: string): Finding {
  return { field, holds, detail: holds ? right : wrong };
}

/** A check that was not made, and why. */
export function notChecked(field: string, detail: string): Finding {
  return { field, holds: null, detail };
}
