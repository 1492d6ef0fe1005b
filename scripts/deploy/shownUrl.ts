/**
 * The URL of a chain's RPC for people: scheme and host. The rest may have the key of an account, and this text is often
 * published.
 */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "the given URL";
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
