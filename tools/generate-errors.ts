import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../scripts/repositoryRoot.ts";
import { contractErrors } from "./errorDocs/contractErrors.ts";
import { documentOf } from "./errorDocs/documentOf.ts";
import { type ErrorSite, errorSites } from "./errorDocs/errorSites.ts";

/** The page with every error code, its meaning and what to do. A test compares the page with the sources. */
export const ERRORS_FILE = "docs/errors.md";

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), "utf8");
const filesOf = (pattern: string): string[] =>
  globSync(pattern, {
    cwd: repositoryRoot,
    exclude: (name) => ["node_modules", "generated"].includes(path.basename(name)),
  }).sort();

/** The text that the page should have. */
export function errorsText(): string {
  const sources = new Map(
    filesOf("{packages,services,indexer,scripts}/**/*.ts").map((file) => [file, read(file)] as const),
  );
  const sites = [...sources].flatMap(([file, source]) => errorSites(file, source));
  const tables = [...sources].map(([file, source]) => [path.dirname(file), statusesIn(source)] as const);
  const shared = statusesIn(sources.get("packages/protocol/problem.ts") ?? "");
  const statusOf = ({ code, file, status }: ErrorSite): number | undefined =>
    status ??
    shared.get(code) ??
    tables.find(([folder, of]) => of.has(code) && isNear(folder, file))?.[1].get(code);
  return documentOf(sites, statusOf, {
    "The contract HireEscrow": contractErrors(
      read("contracts/interfaces/IHireEscrow.sol"),
      pagesOf("docs/escrow"),
    ),
    "The contract AnchoredLedger": contractErrors(
      read("contracts/interfaces/IAnchoredLedger.sol"),
      pagesOf("docs/ledger"),
    ),
  });
}

/** The pages of a contract. The page that several verbs share comes first. */
const pagesOf = (folder: string): string[] =>
  filesOf(`${folder}/*.md`)
    .sort((a, b) => Number(b.endsWith("README.md")) - Number(a.endsWith("README.md")))
    .map(read);

/** The table of statuses that a source has: `… : StatusByCode = { code: 404, … }`. */
function statusesIn(source: string): Map<string, number> {
  const [, table = ""] = /: StatusByCode = \{([^}]*)\}/.exec(source) ?? [];
  return new Map(
    [...table.matchAll(/(\w+): (\d{3})/g)].map(([, code, status]) => [code as string, Number(status)]),
  );
}

/** A table is about the errors of its own service. */
const isNear = (table: string, file: string): boolean =>
  table.split("/").slice(0, 2).join("/") === file.split("/").slice(0, 2).join("/");

if (import.meta.filename === process.argv[1]) {
  writeFileSync(path.join(repositoryRoot, ERRORS_FILE), errorsText());
  console.log(`wrote ${ERRORS_FILE}`);
}
