/** A URL in a text, up to a character that ends it. A full stop or comma after the URL is no part of the URL. */
const URL_IN_TEXT = /\b(?:https?|wss?):\/\/[^\s"'`<>\\]*[^\s"'`<>\\.,:;!?)}]/gi;

/**
 * Shortens each URL in a text to its scheme and host, and writes `/...` for the rest. The path or the query of an RPC's
 * URL often contains an API key, and the errors of HTTP clients contain the whole URL. A URL that has only scheme and
 * host stays as it is.
 */
export function withoutUrlSecrets(text: string): string {
  return text.replace(URL_IN_TEXT, (url) => {
    if (!URL.canParse(url)) return "(a URL)";
    const { protocol, host, pathname, search, hash, username, password } = new URL(url);
    const isPlain = `${pathname}${search}${hash}${username}${password}` === "/";
    return isPlain ? url : `${protocol}//${host}/...`;
  });
}
