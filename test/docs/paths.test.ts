import { globSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { documents, partsOf, textOf } from "./support/documents.ts";

const ROOMS = "packages|services|indexer|portal|contracts|scripts|tools|test|docs|deploy|\\.github|\\.ci";
/** A path from the root: it begins with a room and ends with a file, a folder, or `*`. */
const FROM_ROOT = new RegExp(`^(?:${ROOMS})(?:/[\\w.*-]+)+/?$`);
/** The name of a source file, or its path in the document's own room. */
const SOURCE = /^[\w.*/-]+\.(?:ts|sol|mjs)$/;
/** A folder of a room, which the room's README names. */
const FOLDER = /^[\w-]+(?:\/[\w-]+)*\/$/;
/** Names such as `NAME.ts`, `TABLE.ts` and `<chainId>`, which the reader replaces, and `portal/dist`, which a build makes. */
const BLANK = /\b[A-Z]{4,}\b(?!\.md)|<|\/dist\/?$/;

/** The paths that a document names, without text that only looks like a path. */
const pathsIn = (markdown: string, isOfRoom: boolean): string[] =>
  partsOf(markdown).codes.filter(
    (code) =>
      !BLANK.test(code) && (FROM_ROOT.test(code) || SOURCE.test(code) || (isOfRoom && FOLDER.test(code))),
  );

/**
 * Whether a document is the README of a room, which names files in its own folder. The README of a published package is
 * not, because it is for the users of the package.
 */
const isOfRoom = (document: string): boolean =>
  document.includes("/") && !/^(docs|packages\/(?!runtime))\b/.test(document);

const files = globSync(
  "{*,.ci/*,.github/**,{packages,services,indexer,portal,contracts,scripts,tools,test,docs,deploy}/**}",
  {
    cwd: repositoryRoot,
    exclude: (name) =>
      ["node_modules", "cache", "artifacts", "generated", "dist", ".ponder"].includes(path.basename(name)),
  },
);
const known = new Set(files);
const names = new Set(files.map((file) => path.basename(file)));

function isThere(named: string, document: string): boolean {
  const beside = path.join(path.dirname(document), named);
  if (named.includes("*"))
    return files.some((file) => [named, beside].some((it) => path.matchesGlob(file, it)));
  const bare = named.replace(/\/$/, "");
  if (known.has(bare) || known.has(beside.replace(/\/$/, ""))) return true;
  if (FROM_ROOT.test(named) || FOLDER.test(named)) return false;
  return bare.includes("/") ? files.some((file) => file.endsWith(`/${bare}`)) : names.has(bare);
}

describe("the paths in the documents", () => {
  it("are distinguished from other code", () => {
    const text =
      "`docs/rest.md` `indexer/api/` `a.test.ts` `rest/list.ts` `NAME.ts` `npm test` `text/plain` `a.b` `docs/x.md#y`";
    const found = ["docs/rest.md", "indexer/api/", "a.test.ts", "rest/list.ts"];
    expect(pathsIn(text, false)).to.deep.equal(found);
    expect(pathsIn("`rows/` `docs/rest.md`", true)).to.deep.equal(["rows/", "docs/rest.md"]);
    expect(isThere("indexer/api/", "README.md")).to.equal(true);
    expect(isThere("indexer/gone/", "README.md")).to.equal(false);
    expect(isThere("logPort/", "indexer/README.md")).to.equal(true);
    expect(isThere("gone/", "indexer/README.md")).to.equal(false);
    expect(isThere("links.test.ts", "README.md")).to.equal(true);
    expect(isThere("gone.test.ts", "README.md")).to.equal(false);
  });

  it("exist", () => {
    const named = documents.flatMap((name) =>
      pathsIn(textOf(name), isOfRoom(name)).map((it) => [name, it] as const),
    );
    expect(named).to.have.length.above(150);
    const gone = named.filter(([name, it]) => !isThere(it, name)).map(([name, it]) => `${name}: ${it}`);
    expect(gone).to.deep.equal([]);
  });
});
