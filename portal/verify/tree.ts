/** Size and root of a tree: of a node's ledger, of a file, of a proof. */
export type Tree = { size: number; root: string };

/** A tree that the reader has: of a file, which should be all of a ledger, or of a proof, which may be of an earlier head. */
export type OwnTree = Tree & { what: string; isWhole: boolean };
