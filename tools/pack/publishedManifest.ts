import { packFailed } from "./packFailed.ts";

type Versions = { [name: string]: string };

/** A package.json of the checkout, as far as it matters here. Paths in it name `.ts` files. */
export type OwnManifest = {
  name: string;
  description: string;
  license: string;
  type: string;
  sideEffects: boolean | string[];
  mcpName?: string;
  /** Names with `#` that only the package itself imports: a file for each platform. */
  imports?: { [name: string]: { [platform: string]: string } };
  dependencies: Versions;
  peerDependencies?: Versions;
  /** Peers that only some entry points need. */
  peerDependenciesMeta?: { [name: string]: { optional: boolean } };
  /** What is published in place of the checkout's own: curated entry points, and commands. */
  publishConfig: { exports: { [entry: string]: string }; bin?: { [command: string]: string } };
};

export type PublishedManifest = Omit<
  OwnManifest,
  "publishConfig" | "peerDependencies" | "peerDependenciesMeta"
> & {
  version: string;
  engines: Versions;
  bin?: { [command: string]: string };
  exports: { [entry: string]: string | { types: string; default: string } };
  peerDependencies?: Versions;
  peerDependenciesMeta?: { [name: string]: { optional: boolean } };
};

/** What agents must not be made to install: a node's parts, and tools. */
const FORBIDDEN =
  /^(ponder|hardhat|@nomicfoundation\/.*|drizzle-orm|graphql(-yoga)?|@pothos\/.*|pg|pino|commander|tsx|prom-client|tallystick-runtime)$/;

/**
 * The package.json of a published package. Version and engines are the repository's; siblings have exactly that version;
 * of the dependencies only those stay that the published files import.
 *
 * @param internal modules that siblings import and that are no entry points: exported as `internal/…`
 * @param imported the packages that its scripts and types import
 * @throws TallystickError `pack_failed` when something is imported that its package.json does not name, or that agents
 * are not to install
 */
export function publishedManifest({
  own,
  root,
  internal,
  imported,
}: {
  own: OwnManifest;
  root: { version: string; engines: Versions };
  internal: readonly string[];
  imported: ReadonlySet<string>;
}): PublishedManifest {
  const { name, description, mcpName, license, type, sideEffects, publishConfig, imports } = own;
  const dependencies: Versions = {};
  const peers: Versions = {};
  for (const wanted of [...imported].sort()) {
    if (wanted === name) throw packFailed(`${name} imports itself by its name`);
    if (FORBIDDEN.test(wanted))
      throw packFailed(`${name} imports ${wanted}, which agents are not to install`);
    const peer = own.peerDependencies?.[wanted];
    const version = own.dependencies[wanted];
    if (peer !== undefined) peers[wanted] = peer;
    else if (version === undefined)
      throw packFailed(`${name} imports ${wanted}, which its package.json does not name`);
    else dependencies[wanted] = version === "*" ? root.version : version;
  }
  const optional = Object.fromEntries(
    Object.entries(own.peerDependenciesMeta ?? {}).filter(([peer]) => peers[peer] !== undefined),
  );
  const entries = Object.entries(publishConfig.exports).map(([entry, file]) => [entry, compiled(file)]);
  const forSiblings = internal.map((module) => [`./internal/${module}`, compiled(`./${module}.ts`)]);
  return {
    name,
    version: root.version,
    description,
    ...(mcpName !== undefined && { mcpName }),
    license,
    type,
    engines: root.engines,
    sideEffects: Array.isArray(sideEffects) ? sideEffects.map(scriptOf) : sideEffects,
    ...(imports && {
      imports: Object.fromEntries(Object.entries(imports).map(([it, files]) => [it, scriptsOf(files)])),
    }),
    ...(publishConfig.bin && { bin: scriptsOf(publishConfig.bin) }),
    exports: {
      ...Object.fromEntries([...entries, ...forSiblings]),
      "./package.json": "./package.json",
    },
    dependencies,
    ...(Object.keys(peers).length > 0 && { peerDependencies: peers }),
    ...(Object.keys(optional).length > 0 && { peerDependenciesMeta: optional }),
  };
}

const scriptOf = (file: string): string => file.replace(/\.ts$/, ".js");
const scriptsOf = (files: { [name: string]: string }): { [name: string]: string } =>
  Object.fromEntries(Object.entries(files).map(([name, file]) => [name, scriptOf(file)]));

function compiled(file: string): { types: string; default: string } {
  return { types: file.replace(/\.ts$/, ".d.ts"), default: scriptOf(file) };
}
