/** What a record does, or why it has no effect. */
export type Reading = (() => void) | string;
