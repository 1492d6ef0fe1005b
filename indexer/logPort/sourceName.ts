/**
 * The name of a source in errors and metrics. It has only the host, because the path or query may contain a
 * key.
 */
export const sourceName = (kind: string, url: string): string => `${kind}:${new URL(url).host}`;
