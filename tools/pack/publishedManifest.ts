import { packFailed } from "./packFailed.ts";

type Versions = { [name: string]: string };

/** The parts of a checkout's package.json that matter here. Its paths name `.ts` files. */
export type OwnManifest = {
  name: string;
  description: string;
  license: string;
  type: string;
  sideEffects: boolean | string[];
  mcpName?: string;
  /** Names with `#`, which only the package itself imports. Each has one file for each platform. */
  imports?: { [name: string]: { [platform: string]: string } };
  dependencies: Versions;
  peerDependencies?: Versions;
  /** Peer dependencies that only some entry points need. */
  peerDependenciesMeta?: { [name: string]: { optional: boolean } };
  /** The entry points and commands of the published package. They replace those of the checkout. */
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

/** Packages that a published package must never depend on: parts of a node, and tools. */
const FORBIDDEN =
  /^(ponder|hardhat|@nomicfoundation\/.*|drizzle-orm|graphql(-yoga)?|@pothos\/.*|pg|pino|commander|tsx|prom-client|tallystick-runtime)$/;

/**
 * Makes the package.json of a published package. Its version and engines are the repository's, and siblings
 * have exactly the same version. Only dependencies that the published files import are kept.
 *
 * @param internal modules that siblings import although they are not entry points; exported as `internal/…`
 * @param imported the packages that the published scripts and types import
 * @throws TallystickError `pack_failed` when the files import a package that the package.json does not name,
 * or one that agents must not install
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
