import { Marked } from "marked";

/** A piece of code in a document: inline, or a block with the name of its language. */
export type Code = { text: string; language?: string };

/** The inline code of a document, and its blocks. */
export function codeOf(markdown: string): { inline: string[]; blocks: Code[] } {
  const inline: string[] = [];
  const blocks: Code[] = [];
  const marked = new Marked();
  marked.use({
    walkTokens: (token) => {
      if (token.type === "codespan") inline.push(token.text.replaceAll(/\s+/g, " "));
      if (token.type === "code")
        blocks.push({ text: token.text, ...(token.lang ? { language: token.lang as string } : {}) });
    },
  });
  marked.parse(markdown, { async: false });
  return { inline, blocks };
}

/** The blocks of a language, each with the lines of the document. */
export const blocksOf = (markdown: string, language: string): string[] =>
  codeOf(markdown)
    .blocks.filter((block) => block.language === language)
    .map(({ text }) => text);
