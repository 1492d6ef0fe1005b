import { Marked } from "marked";

/** A document as HTML. Its headings have the same anchors for links as on GitHub. */
export function renderDocument(markdown: string): string {
  const slugs = new Map<string, number>();
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${slugOf(text, slugs)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
    },
  });
  return marked.parse(markdown, { async: false });
}

/**
 * The heading in lower case, with hyphens for spaces and without other punctuation. If a name comes again, it gets
 * `-1`, then `-2`.
 */
function slugOf(heading: string, seen: Map<string, number>): string {
  const slug = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
  const before = seen.get(slug) ?? 0;
  seen.set(slug, before + 1);
  return before === 0 ? slug : `${slug}-${before}`;
}
