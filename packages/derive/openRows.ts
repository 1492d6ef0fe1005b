import type { Row } from "./tables.ts";

/** The changed columns of an agent. */
export type AgentChange = Partial<Omit<Row<"agent">, "id">>;

/** An agent as this event sees it, and the changes that are not in the store yet. */
export type OpenAgent = { row: Row<"agent">; change: AgentChange; isNew: boolean };

/** The entry of a hire's key as this event sees it, and as it is in the store; null when there is none. */
export type OpenHireKey = { row: Row<"hireKey"> | null; stored: Row<"hireKey"> | null };

/** A wallet as this event sees it, and as it is in the store; null when there is no row. */
export type OpenWallet = { row: Row<"wallet"> | null; stored: Row<"wallet"> | null };
