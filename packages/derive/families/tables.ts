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
  /** Where it first spent, or, of a registered wallet, where that was. */
  actedBlock: "number",
  actedLog: "number",
  actedTime: "number",
} as const satisfies Record<string, ColumnKind>;

/**
 * The rows of funding families: the sender of a wallet's first money, who buys from whom, and which money
 * came back.
 */
export const familyTables = {
  /** Where a wallet first declared itself: it was registered, or agreed to be paid for an agent. */
  declaration: { id: "text", block: "number", log: "number", time: "number" },
  /**
   * A wallet's family as one that pays, fixed when it first spent. A row is made when a rule asks, for the
   * wallet and all its ancestors.
   */
  familyMember: memberColumns,
  /**
   * A wallet's family as a seller, a payee or an auditor, if it was registered, or agreed to be paid, before it
   * first spent. Of all others it is that of `familyMember`.
   */
  registeredMember: memberColumns,
  /**
   * The money that a traced wallet brought from outside and that pays for hires: how many of the transfers kept
   * for it were looked at, what is left of them, and of the last one from a wallet before it (`lender`), how
   * much may still be taken from there.
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
  /** What a family bought of a seller, `<seller>/<family>`, in the window. */
  buyerFamily: {
    id: "text",
    seller: "text",
    family: "text",
    hires: "number",
    rated: "number",
    successes: "number",
    /** Hires whose money it took back after the seller marked the delivery. */
    contested: "number",
    /** The money that it paid and that may have stayed with the seller, and what of it the family had brought from outside. */
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
