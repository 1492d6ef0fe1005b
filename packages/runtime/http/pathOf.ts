/** Characters that stay escaped: those that separate the parts of a URL (as with `decodeURI`), and `%` itself. */
const KEPT = new Set([..."%;/?:@&=+$,#"]);

/** The path of such a target can be written in one way only. */
const isPlain = /^\/[^%\\#?]*(?=\?|$)/;

/**
 * The path of a request's target as a router reads it, without dot segments and needless escapes. An absolute target
 * has a path too. The price of a path must not depend on how a client writes it. A target that is no URL stays as it
 * is.
 */
export function pathOf(target: string): string {
  const plain = isPlain.exec(target)?.[0];
  if (plain !== undefined && !plain.includes("/.")) return plain;
  const path = URL.parse(target.startsWith("/") ? `http://node${target}` : target)?.pathname;
  if (path === undefined) return target.split("?", 1)[0] as string;
  return path.replaceAll(/%[0-7][0-9a-f]/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return KEPT.has(character) ? escaped : character;
  });
}
