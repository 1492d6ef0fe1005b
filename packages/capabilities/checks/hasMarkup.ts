/** Elements that need no end. They are also named in texts about HTML, but not often after other words. */
const ALONE = new Set(["br", "hr", "img", "script", "style", "iframe"]);

/**
 * Whether a text contains markup of HTML: an element with its end, a line break or picture within the text, or a tag
 * with attributes at the beginning. The names of types (`List<String>`) and of elements (`<template>: …`)
 * are none. It takes linear time.
 */
export function hasMarkup(text: string): boolean {
  const open = new Set<string>();
  for (const { 0: tag, 1: slash, 2: written = "", index } of text.matchAll(
    /<(\/?)([a-z][a-z0-9-]*)(?![a-z0-9-])[^<>]*>/gi,
  )) {
    const name = written.toLowerCase();
    if (index === 0 && /\s[a-z-]{1,20}=["']/i.test(tag)) return true;
    if (slash === "/" && open.has(name)) return true;
    if (ALONE.has(name) && (index > 0 || tag.includes("="))) return true;
    if (slash === "") open.add(name);
  }
  return false;
}
