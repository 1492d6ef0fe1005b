import type { Row } from "tallystick-derive/tables";

/** The row of a wallet whose family is that of its parent; without a parent the wallet founds its family. */
export function memberRow(
  id: string,
  parent: string | null,
  family: string,
  more: Partial<Row<"familyMember">> = {},
): Row<"familyMember"> {
  const of = { depth: 0, how: "plain", value: 1n, block: 1, log: 1 };
  return { id, parent, family, ...of, actedBlock: 2, actedLog: 0, actedTime: 3, ofHire: false, ...more };
}
