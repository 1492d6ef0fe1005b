import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

/** The rooms from which each room may import. */
const MAY_IMPORT: { [room: string]: string[] } = {
  protocol: [],
  derive: ["protocol"],
  capabilities: ["protocol"],
  sdk: ["protocol", "derive", "capabilities"],
  mcp: ["protocol", "capabilities", "sdk"],
  portal: ["protocol", "derive", "sdk"],
  runtime: ["protocol"],
  dispatch: ["protocol", "capabilities", "sdk", "runtime"],
  settlement: ["protocol", "capabilities", "sdk", "runtime"],
  witness: ["protocol", "runtime"],
  probing: ["protocol", "capabilities", "sdk", "runtime"],
  auditing: ["protocol", "sdk", "runtime"],
  notifying: ["protocol", "sdk", "runtime"],
  indexer: ["protocol", "derive", "sdk", "runtime"],
  scripts: [
    "protocol",
    "derive",
    "capabilities",
    "sdk",
    "mcp",
    "runtime",
    "settlement",
    "witness",
    "probing",
    "dispatch",
    "auditing",
    "notifying",
    "indexer",
    "tools",
  ],
  tools: [
    "protocol",
    "derive",
    "capabilities",
    "sdk",
    "mcp",
    "runtime",
    "settlement",
    "witness",
    "probing",
    "dispatch",
    "auditing",
    "notifying",
    "indexer",
    "scripts",
    "portal",
  ],
};

/** For `A → B`: the only modules of room B that room A may import. */
const ONLY: { [edge: string]: RegExp } = {
  // The modules with which to reach strangers.
  "settlement → sdk": /^packages\/sdk\/(net\/|requestService\.ts$)/,
  // The modules with which to reach strangers, to ask a node and read its answer, and to read the terms of x402.
  "probing → sdk":
    /^packages\/sdk\/(net\/|(?:requestService|listForm|readServiceAnswer|readSettledEntry)\.ts$|query\/askGraphql\.ts$|knownLedger\.ts$|store\/(file|keyValue)Store\.ts$|x402\/paymentHeaders\.ts$)/,
  // The modules with which to look up a payment, and to say why a payment is refused.
  "indexer → sdk":
    /^packages\/sdk\/(chain\/payment(?:Network|State)\.ts$|deadline\.ts$|seller\/(?:findPayment|sellerErrors)\.ts$|x402\/shownReason\.ts$)/,
  // The modules with which a page derives a node's log again, and reads an answer up to a limit.
  "portal → sdk": /^packages\/sdk\/(openLog\/|readBytes\.ts$)/,
  // The modules that build the portal.
  "tools → portal": /^portal\/(vite\.config|build)\.mjs$/,
  // Commands that few users need. They are loaded only on request.
  "scripts → tools": /^tools\/(commands|bench\/capabilities)\//,
};

const PURE = ["protocol", "derive"];

/** Commands. Only these files of a pure room read and write files, and no file imports them. */
const COMMANDS = ["packages/derive/cli.ts"];

/** The room of a file. `packages` and `services` contain rooms. Every other folder is a room. */
function roomOf(file: string): string {
  const [top = "", next = ""] = file.split("/");
  return top === "packages" || top === "services" ? next : top;
}

/** The imports of a file, as the file writes them. */
function specifiersOf(text: string): string[] {
  const found = text.matchAll(
    /(?:^|\n)(?:import|export)\b\s*(?:[^"';()=]*?\bfrom\s*)?"([^"]+)"|\bimport\("([^"]+)"\)/g,
  );
  return [...found].map(([, stated, loaded]) => (stated ?? loaded) as string);
}

const files = globSync("{packages,services,indexer,portal,scripts,tools}/**/*.{ts,tsx}", {
  cwd: repositoryRoot,
}).sort();
const imports = new Map(
  files.map((file) => [file, specifiersOf(readFileSync(path.join(repositoryRoot, file), "utf8"))]),
);
/** The files of this repository that a file imports. */
const targetsOf = (file: string): string[] =>
  (imports.get(file) ?? []).flatMap((specifier) => {
    if (specifier.startsWith(".")) return [path.join(path.dirname(file), specifier)];
    if (specifier.startsWith("#")) return byPlatform(file, specifier);
    const [, room, name] = /^tallystick-(\w+)\/(.+)$/.exec(specifier) ?? [];
    return room === undefined ? [] : [`packages/${room}/${name}.ts`];
  });

/** The files of a package that a name with `#` means, one for each platform. */
function byPlatform(file: string, specifier: string): string[] {
  const room = path.join("packages", roomOf(file));
  const { imports: named } = JSON.parse(
    readFileSync(path.join(repositoryRoot, room, "package.json"), "utf8"),
  );
  const targets: { [platform: string]: string } = named?.[specifier] ?? { none: specifier };
  return Object.values(targets).map((target) => path.join(room, target));
}

/** The only folder of the API that knows the tables, and the module that opens the database. */
const ROWS = "indexer/api/rows/";
const OPENS = "indexer/api/database.ts";

describe("imports between the rooms", () => {
  it("are found in the sources", () => {
    const text = [
      'import { a } from "./a.ts";',
      'import type {\n  B,\n  C,\n} from "../b.ts";',
      'export * from "./c.ts";',
      'import "./d.ts";',
      'const e = await import("./e.ts");',
      'const text = "import nothing from here";',
      'export const up = (name: string) => name === "..";',
      'export function isUp(name: string) {\n  return name === "..";',
    ].join("\n");
    expect(specifiersOf(text).sort()).to.deep.equal(["../b.ts", "./a.ts", "./c.ts", "./d.ts", "./e.ts"]);
    expect(imports.size).to.be.above(700);
    expect(imports.get("services/settlement/main.ts")).to.include("tallystick-runtime/http/listen");
  });

  it("have only the allowed directions", () => {
    const wrong: string[] = [];
    for (const file of files) {
      const room = roomOf(file);
      for (const target of targetsOf(file)) {
        const other = roomOf(target);
        // Files outside of the rooms, such as ponder.config.ts and generated types, are not checked.
        if (other === room || !(other in MAY_IMPORT || other === "test")) continue;
        const isAllowed = MAY_IMPORT[room]?.includes(other) ?? false;
        const only = ONLY[`${room} → ${other}`];
        if (!isAllowed || only?.test(target) === false) wrong.push(`${file} → ${target}`);
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  it("name existing files, by path inside a package and by the package's name from outside", () => {
    const wrong: string[] = [];
    for (const file of files) {
      for (const specifier of imports.get(file) ?? []) {
        const target = path.join(path.dirname(file), specifier);
        const isInside = file.startsWith("packages/") && specifier.startsWith(`tallystick-${roomOf(file)}/`);
        const isAcross =
          specifier.startsWith(".") && target.startsWith("packages/") && roomOf(target) !== roomOf(file);
        if (isInside || isAcross) wrong.push(`${file} imports ${specifier}`);
      }
      for (const target of targetsOf(file))
        if (target.startsWith("packages/") && !imports.has(target)) wrong.push(`${file} → ${target}`);
    }
    expect(wrong).to.deep.equal([]);
  });

  it("do not import modules of Node into pure code", () => {
    const wrong = files.filter(
      (file) =>
        PURE.includes(roomOf(file)) &&
        !COMMANDS.includes(file) &&
        imports.get(file)?.some((specifier) => specifier.startsWith("node:")),
    );
    expect(wrong).to.deep.equal([]);
    const drawn = files.filter((file) => targetsOf(file).some((target) => COMMANDS.includes(target)));
    expect(drawn).to.deep.equal([]);
  });

  it("use the API's tables only in indexer/api/rows, and this folder imports no other folder of the API", () => {
    const api = files.filter((file) => file.startsWith("indexer/api/") && file !== OPENS);
    const isQuery = /^(ponder|drizzle-orm)(\/|$)/;
    const asks = /\bdb\s*\.\s*\w/;
    const wrong = api.filter((file) =>
      file.startsWith(ROWS)
        ? targetsOf(file).some((it) => /^indexer\/api\/\w+\//.test(it) && !it.startsWith(ROWS))
        : targetsOf(file).includes("indexer/ponder.schema.ts") ||
          imports.get(file)?.some((specifier) => isQuery.test(specifier)) ||
          asks.test(readFileSync(path.join(repositoryRoot, file), "utf8")),
    );
    expect(wrong).to.deep.equal([]);
    const rows = api.filter((file) => targetsOf(file).includes("indexer/ponder.schema.ts"));
    expect(rows).to.include(`${ROWS}hires.ts`);
  });

  it("have no cycles", () => {
    expect(circles()).to.deep.equal([]);
  });
});

/** Every cycle of imports, also of imported types. */
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
