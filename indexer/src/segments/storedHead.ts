import type { Hex } from "tallystick-protocol/hex";
import type { LedgerHead } from "./checkSegment.ts";

/** A ledger's head in the columns of its row. */
export type StoredHead = Omit<LedgerHead, "root" | "frontier"> & { root: string; frontier: string };

/** The columns for a head. */
export function storedHead(head: LedgerHead): StoredHead {
  return { ...head, frontier: head.frontier.join(",") };
}

/** The head in a row. A ledger whose writer anchored it without entries has no subtrees, so their text is empty. */
export function headOf({ size, root, frontier, head, bytes }: StoredHead): LedgerHead {
  const subtrees = frontier === "" ? [] : (frontier.split(",") as Hex[]);
  return { size, root: root as Hex, frontier: subtrees, head, bytes };
}
