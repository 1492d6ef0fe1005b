import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

/** What each room may import from. `derive` is the part of the indexer that is pure. */
const MAY_IMPORT: { [room: string]: string[] } = {
  protocol: [],
  runtime: ["protocol"],
  derive: ["protocol"],
  sdk: ["protocol"],
  settlement: ["protocol", "runtime", "sdk"],
  indexer: ["protocol", "runtime", "derive"],
  scripts: ["protocol", "runtime", "derive", "sdk", "settlement", "indexer"],
};

/** Of these rooms only so much may be seen from there. */
const ONLY: { [edge: string]: RegExp } = {
  "settlement → sdk": /^sdk\/(net\/|requestService\.ts$)/,
};

const PURE = ["protocol", "derive"];

const roomOf = (file: string): string =>
  file.startsWith("indexer/src/derive/") ? "derive" : (file.split("/", 1)[0] as string);

/** What a file imports, as it is written there. */
function specifiersOf(text: string): string[] {
  const found = text.matchAll(/(?:^|\n)(?:import|export)\b[^"';]*?"([^"]+)"|\bimport\("([^"]+)"\)/g);
  return [...found].map(([, stated, loaded]) => (stated ?? loaded) as string);
}

const files = globSync("{protocol,runtime,settlement,indexer,sdk,scripts}/**/*.ts", {
  cwd: repositoryRoot,
}).sort();
const imports = new Map(
  files.map((file) => [file, specifiersOf(readFileSync(path.join(repositoryRoot, file), "utf8"))]),
);
/** The files of ours that a file imports. */
const targetsOf = (file: string): string[] =>
  (imports.get(file) ?? [])
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => path.join(path.dirname(file), specifier));

describe("imports between the rooms", () => {
  it("are read as they are written", () => {
    const text = [
      'import { a } from "./a.ts";',
      'import type {\n  B,\n  C,\n} from "../b.ts";',
      'export * from "./c.ts";',
      'import "./d.ts";',
      'const e = await import("./e.ts");',
      'const text = "import nothing from here";',
    ].join("\n");
    expect(specifiersOf(text).sort()).to.deep.equal(["../b.ts", "./a.ts", "./c.ts", "./d.ts", "./e.ts"]);
    expect(imports.size).to.be.above(700);
    expect(imports.get("settlement/main.ts")).to.include("../runtime/http/guardServer.ts");
  });

  it("point one way", () => {
    const wrong: string[] = [];
    for (const file of files) {
      const room = roomOf(file);
      for (const target of targetsOf(file)) {
        const other = roomOf(target);
        // What stands beside the rooms, such as ponder.config.ts and generated types, is nobody's.
        if (other === room || !(other in MAY_IMPORT || other === "test")) continue;
        const isAllowed = MAY_IMPORT[room]?.includes(other) ?? false;
        const only = ONLY[`${room} → ${other}`];
        if (!isAllowed || only?.test(target) === false) wrong.push(`${file} → ${target}`);
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  it("bring nothing of Node's into what is pure", () => {
    const wrong = files.filter(
      (file) =>
        PURE.includes(roomOf(file)) && imports.get(file)?.some((specifier) => specifier.startsWith("node:")),
    );
    expect(wrong).to.deep.equal([]);
  });

  it("never come back to where they began", () => {
    expect(circles()).to.deep.equal([]);
  });
});

/** Every circle that a walk along the imports meets, types included. */
function circles(): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const walk = (file: string): void => {
    const at = way.indexOf(file);
    if (at >= 0) {
      found.push([...way.slice(at), file].join(" → "));
      return;
    }
    if (done.has(file)) return;
    way.push(file);
    for (const target of targetsOf(file)) walk(target);
    way.pop();
    done.add(file);
  };
  for (const file of files) walk(file);
  return found;
}
