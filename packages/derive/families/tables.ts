import type { ColumnKind } from "../columnKind.ts";

/** The rows of funding families: whose money a wallet began with, who buys from whom, and what came back. */
export const familyTables = {
  /** Where a wallet first spoke: it was registered, or agreed to be paid for an agent. What it sent before is not in here. */
  act: { id: "text", block: "number", log: "number", time: "number" },
  /** A wallet's family, fixed when it first acted. Rows are made when a rule asks, for the wallet and those before it. */
  kin: {
    id: "text",
    /** The founder's address; `deep` when the way to it is too long. */
    family: "text",
    /** Steps to the founder. */
    depth: "number",
    /** Whose money it began with; null of a founder. */
    parent: "text?",
    /** `plain` or `payout`: it has a parent. Else why not: `none`, `hub`, `busy` or `mint`. */
    how: "text",
    /** Its largest inflow before it acted. */
    value: "bigint?",
    block: "number?",
    log: "number?",
    actedBlock: "number",
    actedLog: "number",
    actedTime: "number",
  },
  /** A family that ever bought, by its founder. */
  family: {
    id: "text",
    foundedTime: "number",
    /** Of how many other families its members bought in the window. */
    sellers: "number",
    established: "boolean",
    touched: "number?",
  },
  /** Hires in the window, `<family of buyers>/<family of sellers>`. */
  familyPurchases: { id: "text", hires: "number" },
  /** What a family bought of a seller, `<seller>/<family>`, in the window. */
  patron: {
    id: "text",
    seller: "text",
    family: "text",
    hires: "number",
    rated: "number",
    successes: "number",
    /** Those that it took its money back of after delivery had been marked. */
    contested: "number",
    /** What it paid that may have stayed. */
    paid: "bigint",
    /** The accounts that its money went to, and the seller's, whose transfers count as coming back; separated by spaces. */
    sources: "text",
    /** What it adds to its seller's figures now. */
    isIndependent: "boolean",
    isEstablished: "boolean",
    isContesting: "boolean",
    share: "number?",
    kept: "bigint",
  },
  /** Transfers in the window, `<account>/<family of buyers>`: what came back. */
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
