/**
 * Characters that end a URL in running text: space, quotes, brackets, and Chinese and Japanese punctuation.
 */
const BETWEEN = /[\s<>"'“”„‟«»‹›()「」『』【】《》（）。、，；：！？]+/u;

/** Chinese, Japanese and Korean have no space after a link: `詳細はhttps://example.comをご覧ください`. */
const SIGN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Finds URLs and mail addresses, in linear time. */
export function linksIn(text: string): string[] {
  const links: string[] = [];
  for (const token of text.split(BETWEEN)) {
    const start = token.search(/https?:\/\//);
    if (start >= 0) {
      const link = withoutEnd(token.slice(start).split(SIGN, 1)[0] as string);
      if (!/^https?:\/*$/.test(link)) links.push(link);
    } else links.push(...mailAddresses(token));
  }
  return links;
}

/** Removes punctuation that belongs to the sentence around the link. A link begins with a letter. */
function withoutEnd(link: string): string {
  let end = link.length;
  while (".,;:!?".includes(link[end - 1] as string)) end--;
  return link.slice(0, end);
}

function* mailAddresses(token: string): Generator<string> {
  const parts = token.split("@");
  for (const [at, host] of parts.slice(1).entries()) {
    const before = parts[at] as string;
    let start = before.length;
    while (start > 0 && /[\w.+-]/.test(before[start - 1] as string)) start--;
    const domain = /^[\w-]+(?:\.[\w-]+)+/.exec(host)?.[0];
    if (start < before.length && domain !== undefined) yield `${before.slice(start)}@${domain}`;
  }
}
