/** What a record does, or why it has no effect. */
export type Reading = (() => Promise<void>) | string;
