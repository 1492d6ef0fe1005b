import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import hardhatConfig from "../../hardhat.config.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import type { AstNode } from "./findMutants.ts";

const require = createRequire(import.meta.url);

/** A contract to compile: `HireEscrow` in `contracts/HireEscrow.sol`. */
export type Target = { source: string; contract: string };

/** The init and runtime code of a target, without 0x. */
export type Code = { bytecode: string; deployedBytecode: string };

type Output = {
  errors?: { severity: string; formattedMessage: string }[];
  sources: Record<string, { ast: AstNode }>;
  contracts?: Record<
    string,
    Record<string, { evm: Record<"bytecode" | "deployedBytecode", { object: string }> }>
  >;
};

/**
 * Compiles sources under contracts/ by solc-js with the settings of hardhat.config.ts, except that no hash of the source
 * ends up in the code: a mutant that compiles to the same code is the same contract.
 *
 * @returns undefined when it does not compile
 */
export function compile(
  source: string,
  targets: Target[],
  replaced: Record<string, string> = {},
): Code[] | undefined {
  const outputs = ["evm.bytecode.object", "evm.deployedBytecode.object"];
  const selection: Record<string, Record<string, string[]>> = {};
  for (const target of targets)
    selection[target.source] = { ...selection[target.source], [target.contract]: outputs };
  const output = run([source, ...targets.map((target) => target.source)], selection, replaced);
  if (output.errors?.some((error) => error.severity === "error")) return undefined;
  return targets.map((target) => {
    const evm = output.contracts?.[target.source]?.[target.contract]?.evm;
    if (evm === undefined) throw new Error(`solc gave no code for ${target.contract}`);
    return { bytecode: evm.bytecode.object, deployedBytecode: evm.deployedBytecode.object };
  });
}

/** solc's syntax tree of a source under contracts/. */
export function parse(source: string): AstNode {
  const output = run([source], { [source]: { "": ["ast"] } }, {});
  const failed = output.errors?.find((error) => error.severity === "error");
  if (failed) throw new Error(failed.formattedMessage);
  const ast = output.sources[source]?.ast;
  if (ast === undefined) throw new Error(`solc gave no syntax tree of ${source}`);
  return ast;
}

let solc: { compile: (input: string, callbacks: unknown) => string } | undefined;

function run(names: string[], selection: object, replaced: Record<string, string>): Output {
  solc ??= require("solc") as NonNullable<typeof solc>;
  const read = (name: string) => replaced[name] ?? readFileSync(fileOf(name), "utf8");
  const { settings } = hardhatConfig.solidity as { settings: object };
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(names.map((name) => [name, { content: read(name) }])),
    settings: {
      ...settings,
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: selection,
    },
  };
  const findImports = (name: string) => ({ contents: read(name) });
  return JSON.parse(solc.compile(JSON.stringify(input), { import: findImports })) as Output;
}

function fileOf(name: string): string {
  return path.join(repositoryRoot, name.startsWith("contracts/") ? name : path.join("node_modules", name));
}
