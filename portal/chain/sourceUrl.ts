/**
 * The URL of a source in normal form. Null if the text is no URL, if it names a user or a password, or if a page may
 * not ask it: only HTTPS and this machine are allowed.
 */
export function sourceUrlOf(text: string): string | null {
  const url = URL.parse(text.trim());
  if (url === null || url.username !== "" || url.password !== "") return null;
  const isHere = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  return url.protocol === "https:" || (url.protocol === "http:" && isHere) ? url.href : null;
}

/** The name of a source: its host, with the port if the URL has one. Two URLs with one name are the same source. */
export function sourceName(url: string): string {
  return new URL(url).host;
}
