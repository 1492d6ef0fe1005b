/** Size and root of a tree, which comes from a node's ledger, a file or a proof. */
export type Tree = { size: number; root: string };

/**
 * A tree from the reader's own file or proof. `isWhole`: it comes from a file, which should be the whole
 * ledger. A proof may be of an earlier head. `ledger`: the id of the ledger that the file itself names, if it names one.
 */
export type OwnTree = Tree & { what: string; isWhole: boolean; ledger?: string };
