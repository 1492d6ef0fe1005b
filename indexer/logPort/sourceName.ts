/** What a source is called in errors and metrics: its host alone, as its path or query may hold a key. */
export const sourceName = (kind: string, url: string): string => `${kind}:${new URL(url).host}`;
