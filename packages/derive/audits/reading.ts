/** What a record does, or why it counts for nothing. */
export type Reading = (() => Promise<void>) | string;
