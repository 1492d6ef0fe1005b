import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { codeOf } from "./support/code.ts";
import { documents, textOf } from "./support/documents.ts";

const IDENTIFIER = /(?<![\w$-])[A-Za-z][\w$]*(?![\w-])/g;
const ROOMS = "{packages,services,indexer,contracts,scripts,tools,portal,deploy,.ci,.github}";
const KINDS = "{ts,tsx,mjs,sol,graphql,json,yml,yaml,conf}";

/** Every identifier in the sources, and the environment variables of the tests. */
function identifiersOfSources(): Set<string> {
  const files = [
    ...globSync(`${ROOMS}/**/*.${KINDS}`, {
      cwd: repositoryRoot,
      exclude: (name) => /(?:^|\/)(?:node_modules|generated|\.ponder|frozen|dist|test)$/.test(name),
    }),
    ...globSync("test/**/*.ts", { cwd: repositoryRoot }),
    ...["package.json", ".env.example", "compose.yaml", "Dockerfile", ".mocharc.json", "hardhat.config.ts"],
  ];
  const found = new Set<string>();
  for (const file of files) {
    const text = readFileSync(path.join(repositoryRoot, file), "utf8");
    // From tests only environment variables are read, because a test may name things that do not exist any more.
    const pattern = file.startsWith("test/") ? /\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g : IDENTIFIER;
    for (const [name] of text.matchAll(pattern)) found.add(name);
  }
  return found;
}

/** Documents about earlier or later versions. */
const OF_OTHER_TIMES = /^CHANGELOG\.md$|^docs\/adr\/|^docs\/roadmap\.md$/;
/** Names of other programs and other clients, and placeholders. */
const OF_OTHERS = new Set([
  ...["pg_dump", "RspecJunitFormatter", "hireAsync", "publishListing", "http_404", "serveNAME", "swapOwner"],
  ...["session_replication_role", "brand_voice"],
  ...["tallystick_v1", "tallystick_v2", "tallystick_before", "tallystick_next", "tallystick_default"],
]);

/** The names in a piece of code that a reader can look up: names of several words that are not parts of a path. */
const namesIn = (code: string): string[] =>
  code
    .replaceAll(
      /[\w.*-]*\/[\w.*/-]*|[\w.-]+\.(?:ts|tsx|sol|md|mjs|json|jsonl|yml|sqlite|key|html|css)\b/g,
      " ",
    )
    .match(IDENTIFIER)
    ?.filter((name) => (name.includes("_") && !name.startsWith("_")) || /[a-z][A-Z]/.test(name)) ?? [];

describe("the names in the documents", () => {
  it("are distinguished from files and from words", () => {
    expect(namesIn("buyer.hire({ maxPriceUsdc })")).to.deep.equal(["maxPriceUsdc"]);
    expect(namesIn("`a_b` `docs/some_file.md` `x/y_z.ts` `goTools.test.ts` `RPC_URL=…` word")).to.deep.equal([
      ...["a_b", "RPC_URL"],
    ]);
  });

  it("exist in the sources: fields, settings, codes, functions, figures", () => {
    const known = identifiersOfSources();
    // The name of a metric begins with the name of its process, which the source does not contain.
    const isKnown = (name: string): boolean =>
      known.has(name) || OF_OTHERS.has(name) || known.has(name.replace(/^tallystick_(?:[a-z]+_)??/, ""));
    let count = 0;
    const gone: string[] = [];
    for (const document of documents.filter((name) => !OF_OTHER_TIMES.test(name))) {
      for (const name of codeOf(textOf(document)).inline.flatMap(namesIn)) {
        count += 1;
        if (!isKnown(name)) gone.push(`${document}: ${name}`);
      }
    }
    expect([...new Set(gone)]).to.deep.equal([]);
    expect(count).to.be.above(1_500);
  });
});
