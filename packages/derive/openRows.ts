import type { Row } from "./tables.ts";

/** An agent as this event sees it, and as it is in the store; null when it is new. */
export type OpenAgent = { row: Row<"agent">; stored: Row<"agent"> | null };

/** The entry of a hire's key as this event sees it, and as it is in the store; null when there is none. */
export type OpenHireKey = { row: Row<"hireKey"> | null; stored: Row<"hireKey"> | null };

/** A wallet as this event sees it, and as it is in the store; null when there is no row. */
export type OpenWallet = { row: Row<"wallet"> | null; stored: Row<"wallet"> | null };
