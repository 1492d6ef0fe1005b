/** A URL in a text, up to a character that ends it. A full stop or comma after the URL is no part of the URL. */
const URL_IN_TEXT = /\b(?:https?|wss?):\/\/[^\s"'`<>\\]*[^\s"'`<>\\.,:;!?)}]/gi;

/**
 * A text in which each URL has only its scheme and host. The path and the query of an RPC's URL often have the key of an
 * account, and the errors of clients name the whole URL.
 */
export function withoutUrlSecrets(text: string): string {
  return text.replace(URL_IN_TEXT, (url) => {
    if (!URL.canParse(url)) return "(a URL)";
    const { protocol, host, pathname, search, hash, username, password } = new URL(url);
    const isPlain = `${pathname}${search}${hash}${username}${password}` === "/";
    return isPlain ? url : `${protocol}//${host}/...`;
  });
}
