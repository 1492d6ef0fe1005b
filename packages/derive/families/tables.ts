import type { ColumnKind } from "../columnKind.ts";

const memberColumns = {
  id: "text",
  /** The founder's address; `deep` if the founder is too many steps away. */
  family: "text",
  /** Steps to the founder. */
  depth: "number",
  /** The sender of its largest inflow before it acted; null for a founder. */
  parent: "text?",
  /**
   * `plain` or `payout` if it has a parent; otherwise the reason why it has none: `none`, `hub`, `busy` or
   * `mint`.
   */
  how: "text",
  /** Its largest inflow before it acted. */
  value: "bigint?",
  block: "number?",
  log: "number?",
  /** Where it first spent or, in `registeredMember`, where it first declared itself. */
  actedBlock: "number",
  actedLog: "number",
  actedTime: "number",
  /** Whether this is the family of a side of a counted hire, or of a wallet before a side (see `noteSides.ts`). */
  ofHire: "boolean",
} as const satisfies Record<string, ColumnKind>;

/**
 * The rows of funding families: the sender of a wallet's first money, who buys from whom, and which money
 * came back.
 */
export const familyTables = {
  /** Where a wallet first declared itself: it was registered, or agreed to be paid for an agent. */
  declaration: { id: "text", block: "number", log: "number", time: "number" },
  /**
   * The family of a wallet as a payer, fixed when it first spent. The row is made when a rule first needs it,
   * together with the rows of all its ancestors.
   */
  familyMember: memberColumns,
  /**
   * The family of a wallet as a seller, a payee or an auditor, if it declared itself before it first spent. All
   * other wallets have only the family in `familyMember`.
   */
  registeredMember: memberColumns,
  /**
   * The money that a traced wallet brought from outside and that can still pay for hires. `seen`: how many of
   * the transfers stored for it were examined. `left`: what remains of them. If the last one came from a wallet
   * before it in the family (`lender`), `rest` is how much may still be taken from that wallet.
   */
  brought: { id: "text", seen: "number", left: "bigint", lender: "text?", rest: "bigint" },
  /** A family that ever bought, by its founder. */
  family: {
    id: "text",
    foundedTime: "number",
    /** The number of other families from which its members bought in the window. */
    sellers: "number",
    established: "boolean",
    touched: "number?",
  },
  /** Hires in the window, `<family of buyers>/<family of sellers>`. */
  familyPurchases: { id: "text", hires: "number" },
  /** What a family bought from a seller in the window, by `<seller>/<family>`. */
  buyerFamily: {
    id: "text",
    seller: "text",
    family: "text",
    hires: "number",
    rated: "number",
    successes: "number",
    /** Hires whose money it took back after the seller marked the delivery. */
    contested: "number",
    /**
     * The money that it paid and that may have stayed with the seller, and the part of it that the family had
     * brought from outside.
     */
    paid: "bigint",
    brought: "bigint",
    /**
     * The accounts that got its money, and the seller's account, separated by spaces. Their transfers to the
     * family count as money that came back.
     */
    sources: "text",
    /** What the family adds to its seller's figures now. */
    isIndependent: "boolean",
    isEstablished: "boolean",
    isContesting: "boolean",
    share: "number?",
    kept: "bigint",
  },
  /** The money that came back in the window, by `<account>/<family of buyers>`. */
  flow: { id: "text", value: "bigint", touched: "number?" },
  /** An authorized payment to a seller that no receipt claimed in time: `<tx>-<log>`. */
  unreceipted: {
    id: "text",
    seller: "text",
    buyer: "text",
    value: "bigint",
    block: "number",
    time: "number",
    inWindow: "boolean",
  },
} as const satisfies Record<string, Record<string, ColumnKind>>;
