import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { shippedSettings } from "../shippedSettings.ts";
import type { AstNode } from "./astNode.ts";

const require = createRequire(import.meta.url);

/** A contract to compile: `HireEscrow` in `contracts/HireEscrow.sol`. */
export type Target = { source: string; contract: string };

/** The init and runtime code of a target, without 0x. */
export type Code = { bytecode: string; deployedBytecode: string };

/** An error of solc; `start` is a byte offset in the source. */
export type CompileError = { file?: string; start?: number; message: string };

type Message = {
  severity: string;
  formattedMessage: string;
  sourceLocation?: { file: string; start: number };
};
type Output = {
  errors?: Message[];
  sources: Record<string, { ast: AstNode }>;
  contracts?: Record<
    string,
    Record<string, { evm: Record<"bytecode" | "deployedBytecode", { object: string }> }>
  >;
};

export type CompileParameters = {
  /** The copy of the repository whose sources these are. */
  folder: string;
  source: string;
  targets: Target[];
  /** Texts that replace files, by name. */
  replaced?: Record<string, string>;
  /**
   * Compiles without the optimizer. This is almost twice as fast, and constants are in the code as they are
   * written.
   */
  quick?: boolean;
};

/**
 * Compiles sources under contracts/ by solc-js with the settings of hardhat.config.ts. Only the hash of the source is left
 * out of the code, so that a mutant that compiles to the same code is the same contract.
 *
 * @returns the code of each target, or the errors
 */
export function compile(parameters: CompileParameters): { codes: Code[] } | { errors: CompileError[] } {
  const { folder, source, targets, replaced = {}, quick = false } = parameters;
  const outputs = ["evm.bytecode.object", "evm.deployedBytecode.object"];
  const selection: Record<string, Record<string, string[]>> = {};
  for (const target of targets)
    selection[target.source] = { ...selection[target.source], [target.contract]: outputs };
  const output = run(folder, [source, ...targets.map((it) => it.source)], selection, replaced, quick);
  const errors = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    return {
      errors: errors.map(({ formattedMessage, sourceLocation }) => ({
        message: formattedMessage,
        ...sourceLocation,
      })),
    };
  }
  const codes = targets.map((target) => {
    const evm = output.contracts?.[target.source]?.[target.contract]?.evm;
    if (evm === undefined) throw new Error(`solc gave no code for ${target.contract}`);
    return { bytecode: evm.bytecode.object, deployedBytecode: evm.deployedBytecode.object };
  });
  return { codes };
}

/** solc's syntax tree of a source under contracts/. */
export function parse(folder: string, source: string): AstNode {
  const output = run(folder, [source], { [source]: { "": ["ast"] } }, {}, false);
  const failed = output.errors?.find((error) => error.severity === "error");
  if (failed) throw new Error(failed.formattedMessage);
  const ast = output.sources[source]?.ast;
  if (ast === undefined) throw new Error(`solc gave no syntax tree of ${source}`);
  return ast;
}

let solc: { compile: (input: string, callbacks: unknown) => string } | undefined;

function run(
  folder: string,
  names: string[],
  selection: object,
  replaced: Record<string, string>,
  quick: boolean,
): Output {
  solc ??= require("solc") as NonNullable<typeof solc>;
  const read = (name: string) => replaced[name] ?? readFileSync(fileOf(folder, name), "utf8");
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(names.map((name) => [name, { content: read(name) }])),
    settings: {
      ...shippedSettings,
      ...(quick && { optimizer: { enabled: false } }),
      metadata: { bytecodeHash: "none", appendCBOR: false },
      outputSelection: selection,
    },
  };
  const findImports = (name: string) => ({ contents: read(name) });
  return JSON.parse(solc.compile(JSON.stringify(input), { import: findImports })) as Output;
}

function fileOf(folder: string, name: string): string {
  return path.join(folder, name.startsWith("contracts/") ? name : path.join("node_modules", name));
}
