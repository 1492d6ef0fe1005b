import { globSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { documents, partsOf, textOf } from "./support/documents.ts";

const ROOMS = "packages|services|indexer|contracts|scripts|tools|test|docs|deploy|\\.github|\\.ci";
/** A path from the root: it begins with a room and ends with a file, a folder, or `*`. */
const FROM_ROOT = new RegExp(`^(?:${ROOMS})(?:/[\\w.*-]+)+/?$`);
/** The name of a source, or its path from the document's own room. */
const SOURCE = /^[\w.*/-]+\.(?:ts|sol|mjs)$/;
/** `NAME.ts`, `TABLE.ts`, `<chainId>`: the reader fills them in. */
const BLANK = /\b[A-Z]{4,}\b(?!\.md)|</;

/** What a document names as a path, without what only looks like one. */
const pathsIn = (markdown: string): string[] =>
  partsOf(markdown).codes.filter((code) => !BLANK.test(code) && (FROM_ROOT.test(code) || SOURCE.test(code)));

const files = globSync(
  "{*,.ci/*,.github/**,{packages,services,indexer,contracts,scripts,tools,test,docs,deploy}/**}",
  {
    cwd: repositoryRoot,
    exclude: (name) =>
      ["node_modules", "cache", "artifacts", "generated", ".ponder"].includes(path.basename(name)),
  },
);
const known = new Set(files);
const names = new Set(files.map((file) => path.basename(file)));

function isThere(named: string, document: string): boolean {
  if (named.includes("*")) return files.some((file) => path.matchesGlob(file, named));
  const bare = named.replace(/\/$/, "");
  if (known.has(bare) || known.has(path.join(path.dirname(document), bare))) return true;
  if (FROM_ROOT.test(named)) return false;
  return bare.includes("/") ? files.some((file) => file.endsWith(`/${bare}`)) : names.has(bare);
}

describe("the files and folders that the documents name", () => {
  it("are told from other code", () => {
    const text =
      "`docs/rest.md` `indexer/api/` `a.test.ts` `rest/list.ts` `NAME.ts` `npm test` `text/plain` `a.b` `docs/x.md#y`";
    expect(pathsIn(text)).to.deep.equal(["docs/rest.md", "indexer/api/", "a.test.ts", "rest/list.ts"]);
    expect(isThere("indexer/api/", "README.md")).to.equal(true);
    expect(isThere("indexer/gone/", "README.md")).to.equal(false);
    expect(isThere("links.test.ts", "README.md")).to.equal(true);
    expect(isThere("gone.test.ts", "README.md")).to.equal(false);
  });

  it("are there", () => {
    const named = documents.flatMap((name) => pathsIn(textOf(name)).map((it) => [name, it] as const));
    expect(named).to.have.length.above(150);
    const gone = named.filter(([name, it]) => !isThere(it, name)).map(([name, it]) => `${name}: ${it}`);
    expect(gone).to.deep.equal([]);
  });
});
