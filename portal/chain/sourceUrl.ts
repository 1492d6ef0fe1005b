/** The address of a source as it is asked; null of one that a page may not ask: HTTPS, or this machine. */
export function sourceUrlOf(text: string): string | null {
  const url = URL.parse(text.trim());
  if (url === null || url.username !== "" || url.password !== "") return null;
  const isHere = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  return url.protocol === "https:" || (url.protocol === "http:" && isHere) ? url.href : null;
}

/** How a source is called: two addresses of one host are one source. */
export function sourceName(url: string): string {
  return new URL(url).host;
}
