import path from "node:path";

/** A compiler's input in Solidity's standard JSON, as explorers take it. */
export type StandardInput = {
  language: "Solidity";
  sources: { [name: string]: { content: string } };
  settings: {
    remappings: string[];
    evmVersion: string;
    viaIR: boolean;
    optimizer: object;
    metadata: { bytecodeHash: string };
    outputSelection: { [file: string]: { [contract: string]: string[] } };
  };
};

/** The code of a contract, and the parameters of its constructor. */
const OUTPUT = ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"];

/** The part of an input that one contract needs: its source, all sources that it imports, and only its own output. */
export function inputOfContract(whole: StandardInput, source: string, contract: string): StandardInput {
  const sources: StandardInput["sources"] = {};
  const waiting = [source];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (sources[name] !== undefined) continue;
    const content = whole.sources[name]?.content;
    if (content === undefined) throw new Error(`The input has no source ${name}.`);
    sources[name] = { content };
    waiting.push(...importsOf(content).map((imported) => resolveImport(whole, name, imported)));
  }
  const { remappings, evmVersion, viaIR, optimizer, metadata } = whole.settings;
  return {
    language: "Solidity",
    sources: Object.fromEntries(Object.entries(sources).sort(([a], [b]) => (a < b ? -1 : 1))),
    settings: {
      remappings,
      evmVersion,
      viaIR,
      optimizer,
      metadata,
      outputSelection: { [source]: { [contract]: OUTPUT } },
    },
  };
}

function importsOf(content: string): string[] {
  const code = content.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, "");
  return [...code.matchAll(/\bimport\s+(?:[^"';]*?\bfrom\s+)?["']([^"']+)["']/g)].map(
    ([, name = ""]) => name,
  );
}

/** The compiler's rule: relative to the importing file, or by the remapping with the longest prefix. */
function resolveImport({ settings }: StandardInput, from: string, imported: string): string {
  if (imported.startsWith(".")) return path.posix.join(path.posix.dirname(from), imported);
  const [best] = settings.remappings
    .map(
      (text) => /^(?:([^:=]*):)?([^=]*)=(.*)$/.exec(text)?.slice(1) as [string | undefined, string, string],
    )
    .filter(([context = "", prefix]) => from.startsWith(context) && imported.startsWith(prefix))
    .sort((a, b) => b[1].length - a[1].length);
  return best === undefined ? imported : best[2] + imported.slice(best[1].length);
}
