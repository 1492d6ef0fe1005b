import { spawnSync } from "node:child_process";
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { findNpm } from "../../scripts/bootstrap/npm.mjs";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { compilerEnvironment } from "../compilerEnvironment.ts";
import { packFailed } from "./packFailed.ts";
import { type OwnManifest, type PublishedManifest, publishedManifest } from "./publishedManifest.ts";
import { mapSpecifiers, splitSpecifier } from "./specifiers.ts";

export type PackedPackage = {
  name: string;
  /** The tarball. */
  file: string;
  /** Its size in bytes. */
  size: number;
  /** The number of files in it. */
  files: number;
  manifest: PublishedManifest;
  /** Modules that only its siblings may import, without `internal/`. */
  internal: string[];
};

/** A package in the checkout, by its folder. */
type Room = { folder: string; own: OwnManifest };

/**
 * Makes a tarball of each package that others install: those whose package.json has `publishConfig.exports`.
 * Modules that no entry point leads to stay out. Other modules that siblings import are exported as
 * `internal/…`, each by name. Nothing else can be imported.
 *
 * @param outFolder the folder for the tarballs
 * @throws TallystickError `pack_failed`
 */
export async function packPackages(outFolder: string): Promise<PackedPackage[]> {
  const stage = mkdtempSync(path.join(tmpdir(), "tallystick-pack-"));
  try {
    const rooms = readRooms();
    const compiled = path.join(stage, "compiled");
    mkdirSync(compiled);
    compile(rooms, compiled);
    const imports = takeReached(rooms, compiled, stage);
    mkdirSync(outFolder, { recursive: true });
    const root = readJson("package.json");
    return rooms.map(({ folder: name, own }) => {
      const folder = path.join(stage, name);
      const internal = [...(imports.internal.get(own.name) ?? [])].sort();
      const imported = imports.packages.get(own.name) ?? new Set<string>();
      const manifest = publishedManifest({ own, root, internal, imported });
      writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
      cpSync(path.join(repositoryRoot, "packages", name, "README.md"), path.join(folder, "README.md"));
      cpSync(path.join(repositoryRoot, "LICENSE"), path.join(folder, "LICENSE"));
      const file = npmPack(folder, outFolder);
      const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
      return { name: own.name, file, size: statSync(file).size, files: files.length, manifest, internal };
    });
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function readRooms(): Room[] {
  return globSync("packages/*/package.json", { cwd: repositoryRoot })
    .sort()
    .map((file) => ({ folder: path.basename(path.dirname(file)), own: readJson(file) }))
    .filter(({ own }) => own.publishConfig !== undefined);
}

/** Compiles the packages, each into a folder of its own. */
function compile(rooms: Room[], out: string): void {
  const packages = path.join(repositoryRoot, "packages");
  const config = {
    extends: path.join(repositoryRoot, "tsconfig.json"),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      outDir: out,
      rootDir: packages,
      rewriteRelativeImportExtensions: true,
      allowJs: false,
      checkJs: false,
      typeRoots: [path.join(repositoryRoot, "node_modules/@types")],
      types: ["node"],
    },
    include: rooms.map(({ folder }) => path.join(packages, folder, "**/*.ts")),
    exclude: rooms.map(({ folder }) => path.join(packages, folder, "examples")),
  };
  const project = path.join(out, "tsconfig.json");
  writeFileSync(project, JSON.stringify(config));
  run(
    process.execPath,
    [path.join(repositoryRoot, "node_modules/typescript/bin/tsc"), "-p", project, "--checkers", "1"],
    out,
  );
}

type Imports = {
  /** By package: the modules that siblings import of it and that are no entry points. */
  internal: Map<string, Set<string>>;
  /** By package: the packages that it imports. */
  packages: Map<string, Set<string>>;
};

/** Copies every module that an entry point reaches, and changes each import to its place in the published packages. */
function takeReached(rooms: Room[], compiled: string, stage: string): Imports {
  const byName = new Map(rooms.map((room) => [room.own.name, room]));
  const imports: Imports = { internal: new Map(), packages: new Map() };
  // Modules such as `sdk/buyer/hiring`. The modules that are found are searched too.
  const reached = new Set(rooms.flatMap(entriesOf));
  for (const module of reached) {
    const { folder, own } = rooms.find(({ folder }) => module.startsWith(`${folder}/`)) as Room;
    for (const extension of [".js", ".d.ts"]) {
      const to = path.join(stage, `${module}${extension}`);
      mkdirSync(path.dirname(to), { recursive: true });
      writeFileSync(
        to,
        mapSpecifiers(readFileSync(path.join(compiled, `${module}${extension}`), "utf8"), point),
      );
    }

    function point(specifier: string): string {
      if (specifier.startsWith("node:")) return specifier;
      if (specifier.startsWith("#")) {
        for (const file of byPlatform(own, specifier)) reached.add(path.join(folder, moduleOf(file)));
        return specifier;
      }
      if (specifier.startsWith(".")) {
        const target = specifier.replace(/\.[jt]s$/, "");
        reached.add(path.join(path.dirname(module), target));
        // The compiler writes `.js` into scripts, but leaves `.ts` in declarations, where there is no such file any more.
        return `${target}.js`;
      }
      const { name, entry } = splitSpecifier(specifier);
      note(imports.packages, own.name, name);
      const sibling = byName.get(name);
      if (!sibling || Object.hasOwn(sibling.own.publishConfig.exports, entry)) return specifier;
      const inside = entry.slice("./".length);
      note(imports.internal, name, inside);
      reached.add(`${sibling.folder}/${inside}`);
      return `${name}/internal/${inside}`;
    }
  }
  return imports;
}

/** The files of a package behind one of its names with `#`. */
function byPlatform({ name, imports = {} }: OwnManifest, specifier: string): string[] {
  const files = Object.values(imports[specifier] ?? {});
  if (files.length === 0)
    throw packFailed(`${name} imports ${specifier}, which its package.json does not name`);
  return files;
}

const moduleOf = (file: string): string => file.replace(/\.ts$/, "");

/** The modules of a package's entry points and commands. */
function entriesOf({ folder, own: { publishConfig } }: Room): string[] {
  const files = [...Object.values(publishConfig.exports), ...Object.values(publishConfig.bin ?? {})];
  return files.map((file) => path.join(folder, moduleOf(file)));
}

function note(map: Map<string, Set<string>>, key: string, value: string): void {
  map.set(key, (map.get(key) ?? new Set()).add(value));
}

function npmPack(folder: string, outFolder: string): string {
  const npm = findNpm(process.env, process.execPath);
  if (npm === undefined) throw packFailed("npm was not found");
  const args = [npm, "pack", "--silent", "--offline", "--pack-destination", path.resolve(outFolder)];
  const name = run(process.execPath, args, folder).trim().split("\n").at(-1) ?? "";
  return path.join(path.resolve(outFolder), name);
}

function run(command: string, args: string[], cwd: string): string {
  const env = { ...process.env, ...compilerEnvironment };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8", env });
  if (status === 0) return stdout;
  throw packFailed(`${path.basename(args[0] ?? command)} ended with ${status}:\n${stdout}${stderr}`);
}

function readJson(file: string) {
  return JSON.parse(readFileSync(path.join(repositoryRoot, file), "utf8"));
}
