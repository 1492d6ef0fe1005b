import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import type { BundleEntry } from "./entries.ts";

/** The size of files that a page fetches together. */
export type Weight = {
  /** Bytes of the minified files. */
  bytes: number;
  /** The sum of each file by gzip -9. */
  gzip: number;
};

export type Bundle = {
  name: string;
  /** The file to import. */
  file: string;
  /** The files that are fetched before anything runs. */
  initial: Weight;
  /** The packages in the initial files and their bytes, the largest first. */
  largest: { name: string; bytes: number }[];
  /** What each of our own `import()` calls fetches in addition, by the module that it names. */
  lazy: { [module: string]: Weight & { file: string; packages: string[] } };
};

/**
 * Bundles an entry for browsers, as a page would do it: minified, and split at each `import()`. Code that
 * needs Node does not bundle.
 *
 * @param folder the folder for the files
 */
export async function measureBundle({ name, source }: BundleEntry, folder: string): Promise<Bundle> {
  const outdir = path.join(folder, name);
  const { metafile } = await build({
    stdin: { contents: source, loader: "ts", sourcefile: `${name}.ts`, resolveDir: import.meta.dirname },
    absWorkingDir: repositoryRoot,
    outdir,
    entryNames: name,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    metafile: true,
    logLevel: "silent",
  });
  const { outputs } = metafile;
  const entry = Object.keys(outputs).find((file) => path.basename(file) === `${name}.mjs`) as string;
  const initial = reachedFrom(outputs, entry);
  const lazy: Bundle["lazy"] = {};
  for (const [file, { entryPoint }] of Object.entries(outputs)) {
    if (file === entry || entryPoint === undefined || !entryPoint.startsWith("packages/")) continue;
    const more = reachedFrom(outputs, file).filter((it) => !initial.includes(it));
    const packages = packagesIn(outputs, more).map((it) => it.name);
    lazy[path.basename(entryPoint, ".ts")] = {
      ...weigh(more),
      file: path.join(repositoryRoot, file),
      packages,
    };
  }
  return {
    name,
    file: path.join(outdir, `${name}.mjs`),
    initial: weigh(initial),
    largest: packagesIn(outputs, initial),
    lazy,
  };
}

/** A file and everything that it imports statically, directly or indirectly. */
function reachedFrom(outputs: Metafile["outputs"], entry: string): string[] {
  const reached = new Set([entry]);
  for (const file of reached) {
    for (const { path: target, kind } of outputs[file]?.imports ?? [])
      if (kind === "import-statement" && target in outputs) reached.add(target);
  }
  return [...reached];
}

function weigh(files: string[]): Weight {
  const contents = files.map((file) => readFileSync(path.join(repositoryRoot, file)));
  const sum = (sizes: number[]): number => sizes.reduce((total, size) => total + size, 0);
  return {
    bytes: sum(contents.map(({ length }) => length)),
    gzip: sum(contents.map((content) => gzipSync(content, { level: 9 }).length)),
  };
}

/** The packages in the files, those of npm and our own, by name. */
function packagesIn(outputs: Metafile["outputs"], files: string[]): Bundle["largest"] {
  const sizes = new Map<string, number>();
  for (const file of files) {
    for (const [input, { bytesInOutput }] of Object.entries(outputs[file]?.inputs ?? {})) {
      const name =
        /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? /^packages\/[^/]+/.exec(input)?.[0];
      if (name !== undefined && bytesInOutput > 0) sizes.set(name, (sizes.get(name) ?? 0) + bytesInOutput);
    }
  }
  return [...sizes].map(([name, bytes]) => ({ name, bytes })).sort((a, b) => b.bytes - a.bytes);
}
