import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { findNpm } from "../../scripts/bootstrap/npm.mjs";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

/** The name of the package. */
export const SDK_PACKAGE = "tallystick-sdk";

/** What agents must not be made to install: a node's parts, and tools. */
const FORBIDDEN = [
  "ponder",
  "hardhat",
  "@nomicfoundation",
  "drizzle-orm",
  "graphql",
  "pino",
  "commander",
  "tsx",
];

export type PackedSdk = {
  /** The tarball. */
  file: string;
  /** Bytes of it. */
  size: number;
  files: number;
  dependencies: { [name: string]: string };
};

/**
 * Makes one tarball of the SDK: ES modules and their types, the protocol inside, each dependency at the version that is
 * tested here. Examples stay out.
 *
 * @param outFolder where the tarball goes
 * @throws TallystickError `pack_failed`
 */
export async function packSdk(outFolder: string): Promise<PackedSdk> {
  const stage = mkdtempSync(path.join(tmpdir(), "tallystick-pack-"));
  try {
    emit(stage);
    const built = listFiles(stage).filter((file) => !file.endsWith("tsconfig.json"));
    for (const file of built.filter((it) => it.endsWith(".d.ts"))) pointToScripts(file);
    const dependencies = dependenciesOf(built);
    writeFileSync(path.join(stage, "package.json"), `${JSON.stringify(manifest(dependencies), null, 2)}\n`);
    writeFileSync(path.join(stage, "README.md"), README);
    cpSync(path.join(repositoryRoot, "LICENSE"), path.join(stage, "LICENSE"));
    rmSync(path.join(stage, "tsconfig.json"));
    await mkdir(outFolder, { recursive: true });
    const file = npmPack(stage, outFolder);
    return { file, size: readFileSync(file).length, files: built.length + 3, dependencies };
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Compiles packages/sdk/ and what it imports into a folder. */
function emit(stage: string): void {
  const config = {
    extends: path.join(repositoryRoot, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      outDir: stage,
      rootDir: repositoryRoot,
      rewriteRelativeImportExtensions: true,
      allowJs: false,
      checkJs: false,
      typeRoots: [path.join(repositoryRoot, "node_modules/@types")],
      types: ["node"],
    },
    include: [path.join(repositoryRoot, "packages/sdk/**/*.ts")],
    exclude: [path.join(repositoryRoot, "packages/sdk/examples")],
  };
  const project = path.join(stage, "tsconfig.json");
  writeFileSync(project, JSON.stringify(config));
  run(process.execPath, [path.join(repositoryRoot, "node_modules/typescript/bin/tsc"), "-p", project], stage);
}

/** The compiler writes `.js` into scripts, but leaves `.ts` in declarations, where there is no such file any more. */
function pointToScripts(file: string): void {
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(/((?:from|import\()\s*"\.{1,2}\/[^"]+)\.ts"/g, '$1.js"'));
}

/** What an import or export statement, or a call of import(), names, unless it is relative. */
const IMPORTED = /^(?:\}|import|export)[^"\n]*from "([^"\s.][^"\s]*)"|\bimport\("([^"\s.][^"\s]*)"\)/gm;

/** The packages that the scripts and their types import, at the versions of this repository. */
function dependenciesOf(files: string[]): { [name: string]: string } {
  const { dependencies } = JSON.parse(readFileSync(path.join(repositoryRoot, "package.json"), "utf8"));
  const names = new Set<string>();
  for (const file of files) {
    const text = readFileSync(file, "utf8");
    for (const [, statement, call] of text.matchAll(IMPORTED)) {
      const specifier = statement ?? call ?? "";
      if (specifier.startsWith("node:")) continue;
      const parts = specifier.split("/");
      names.add(specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] as string));
    }
  }
  const found: { [name: string]: string } = {};
  for (const name of [...names].sort()) {
    const version: string | undefined = dependencies[name];
    if (version === undefined || FORBIDDEN.some((it) => name === it || name.startsWith(`${it}/`))) {
      throw packFailed(`the SDK imports ${name}, which agents are not to install`);
    }
    found[name] = version;
  }
  return found;
}

function manifest(dependencies: { [name: string]: string }): object {
  const { version, license, engines } = JSON.parse(
    readFileSync(path.join(repositoryRoot, "package.json"), "utf8"),
  );
  return {
    name: SDK_PACKAGE,
    version,
    description:
      "Hire agents, and be hired, with one call: x402 payment, escrow, verified results, receipts.",
    license,
    type: "module",
    engines,
    sideEffects: false,
    bin: { "tallystick-mcp": "./sdk/mcp/main.js" },
    // By this the MCP registry knows that packages/mcp/server.json may name this package.
    mcpName: JSON.parse(readFileSync(path.join(repositoryRoot, "packages/mcp/server.json"), "utf8")).name,
    exports: {
      "./packages/protocol/*": { types: "./packages/protocol/*.d.ts", default: "./packages/protocol/*.js" },
      "./*": { types: "./packages/sdk/*.d.ts", default: "./packages/sdk/*.js" },
    },
    dependencies,
  };
}

const README = `# tallystick-sdk

Agents hire agents: search, price, payment by x402 or into an escrow, the result, its verification, and a receipt, in one call.

\`\`\`js
import { privateKeyToAccount } from "viem/accounts";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { base } from "tallystick-sdk/chain/paymentNetwork";
import { createBuyer } from "tallystick-sdk/createBuyer";

const account = privateKeyToAccount(process.env.BUYER_PRIVATE_KEY);
const buyer = createBuyer({ account, baseUrl: "https://node.example", network: base, budget: memoryBudget(5_000_000n) });
const hire = await buyer.hire({
  capability: "compute.statistics.mean",
  params: { data: [1, 2, 3] },
  maxPriceUsdc: "0.05",
  maxLatencyMs: 5_000,
});
console.log(hire.result, hire.verification.all_passed, hire.money);
\`\`\`

Every module of \`packages/sdk/\` is an entry point by its path (\`tallystick-sdk/createSeller\`, \`tallystick-sdk/escrow/signEscrow\`), and so is
the protocol (\`tallystick-sdk/protocol/records/record\`). All but \`store/fileStore\` and
\`mcp/main\` run in browsers. \`npx tallystick-mcp\` serves an agent's tools over MCP.
`;

function npmPack(stage: string, outFolder: string): string {
  const npm = findNpm(process.env, process.execPath);
  if (npm === undefined) throw packFailed("npm was not found");
  const args = [npm, "pack", "--silent", "--offline", "--pack-destination", path.resolve(outFolder)];
  const name = run(process.execPath, args, stage).trim().split("\n").at(-1) ?? "";
  return path.join(path.resolve(outFolder), name);
}

function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status === 0) return stdout;
  throw packFailed(`${path.basename(args[0] ?? command)} ended with ${status}:\n${stdout}${stderr}`);
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function packFailed(message: string): TallystickError {
  return new TallystickError({ code: "pack_failed", message: `The SDK could not be packed: ${message}` });
}
