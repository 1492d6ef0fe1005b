/** Elements that need no end. Extracted texts often have them where a line or a picture was. */
const EMPTY = new Set(["br", "hr", "img"]);

/** Elements that are never part of a text. */
const HIDDEN = new Set(["script", "style", "iframe"]);

/**
 * Whether a text contains markup of HTML. One of these is enough:
 * - an element with its end
 * - a tag of `EMPTY` that has an attribute, or is not at the beginning of the text
 * - a tag that touches a word (an end tag: the word after it) and begins the text, has an attribute or is in `HIDDEN`
 * - a tag with an attribute at the beginning of the text, in front of a word
 *
 * The names of types (`List<String>`) and of elements (`<template>: …`, `where to put <script>`) do not count as
 * markup. Texts about HTML also name whole tags: `named` has the elements that may be named. The check takes linear
 * time.
 */
export function hasMarkup(text: string, named: ReadonlySet<string> = new Set()): boolean {
  const open = new Set<string>();
  const start = text.search(/\S/);
  for (const { 0: tag, 1: slash, 2: written = "", index } of text.matchAll(
    /<(\/?)([a-z][a-z0-9-]*)(?![a-z0-9-])[^<>]*>/gi,
  )) {
    const name = written.toLowerCase();
    if (named.has(name)) continue;
    const isFirst = index === start;
    const hasAttribute = /\s[^\s=]{1,40}=/.test(tag);
    if (EMPTY.has(name) && (!isFirst || hasAttribute)) return true;
    const [before = "", after = ""] = [text[index - 1], text[index + tag.length]];
    const isGlued = isLetter(after) || (isLetter(before) && slash === "");
    if (isGlued && (isFirst || hasAttribute || HIDDEN.has(name))) return true;
    const rest = isFirst ? text.slice(index + tag.length).trimStart() : "";
    if (hasAttribute && isLetter(rest.charAt(0))) return true;
    if (slash === "/" && open.has(name)) return true;
    if (slash === "") open.add(name);
  }
  return false;
}

function isLetter(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}
