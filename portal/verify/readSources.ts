import { sourceName, sourceUrlOf } from "../chain/sourceUrl.ts";

/** Reads one or two URLs, or returns what is wrong with them. */
export function readSources(texts: readonly string[]): string[] | string {
  const given = texts.filter((it) => it.trim() !== "");
  if (given.length === 0) return "Write the address of a JSON-RPC that you trust, or take public ones.";
  const urls: string[] = [];
  for (const text of given) {
    const url = sourceUrlOf(text);
    if (url === null)
      return "An address begins with https:// (http:// only for this machine), without a password.";
    urls.push(url);
  }
  const [one = "", other = ""] = urls;
  if (other !== "" && sourceName(one) === sourceName(other))
    return "Both addresses are of one host: that is one source. Name another, or leave one out.";
  return urls;
}
