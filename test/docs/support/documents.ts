import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { Marked } from "marked";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

/**
 * The documents for people: the pages in the repository's root, `docs/`, and the README of each room. The paths are
 * relative to the root.
 */
export const documents: readonly string[] = [
  ...globSync("{.github,docs,packages,services,indexer,portal,contracts,scripts,tools,test}/**/*.md", {
    cwd: repositoryRoot,
    exclude: (name) => path.basename(name) === "node_modules",
  }),
  ...globSync("*.md", { cwd: repositoryRoot }),
].sort();

/** The text of a document. */
export const textOf = (name: string): string => readFileSync(path.join(repositoryRoot, name), "utf8");

/** The inline code and the links of a document. */
export function partsOf(markdown: string): { codes: string[]; links: string[] } {
  const codes: string[] = [];
  const links: string[] = [];
  const marked = new Marked();
  marked.use({
    walkTokens: (token) => {
      if (token.type === "codespan") codes.push(token.text);
      if (token.type === "link") links.push(token.href);
    },
  });
  marked.parse(markdown, { async: false });
  return { codes, links };
}
