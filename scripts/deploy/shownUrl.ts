/**
 * The URL of a chain's RPC for people: scheme and host. The rest of the URL may contain an API key, and the text is
 * often published.
 */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "the given URL";
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
