import { Marked } from "marked";

/** A piece of code in a document. A block may have the name of its language. */
export type Code = { text: string; language?: string };

/** The inline code and the code blocks of a document. */
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

/** The texts of the code blocks in one language. */
export const blocksOf = (markdown: string, language: string): string[] =>
  codeOf(markdown)
    .blocks.filter((block) => block.language === language)
    .map(({ text }) => text);
