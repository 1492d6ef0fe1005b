// Keeps where Node found each module of a library, from one start to the next. Ponder loads 4,000 modules. To find them
// takes as long as to compile them, because Node looks for a package.json in every folder.
//
// Only places inside of `node_modules` are kept, and only if Node keeps compiled code too (NODE_COMPILE_CACHE). After
// another `npm ci` the file has another name.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import module from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isMainThread } from "node:worker_threads";

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const libraries = path.join(repository, "node_modules", path.sep);
const [ours, theirs] = [pathToFileURL(path.join(repository, path.sep)).href, pathToFileURL(libraries).href];

/** A name such as "viem" or "@pothos/core". It is found in the same place from every module of a folder. */
const IS_BARE = /^[a-z@][^:]*$/i;

/** The file for this program, or undefined if nothing is kept. Node has the needed hooks from 22.15 on. */
function fileOfProgram() {
  const folder = process.env.NODE_COMPILE_CACHE;
  const installed = statSync(path.join(libraries, ".package-lock.json"), { throwIfNoEntry: false });
  if (!folder || !installed || module.registerHooks === undefined) return undefined;
  const state = [process.version, process.argv[1], repository, installed.mtimeMs, installed.size];
  const name = createHash("sha256").update(state.join("\n")).digest("hex").slice(0, 16);
  return path.join(folder, `found-${name}.json`);
}

function read(file) {
  try {
    const found = JSON.parse(readFileSync(file, "utf8"));
    return typeof found === "object" && found !== null ? found : {};
  } catch {
    return {};
  }
}

/** Writes the file in one step, because other processes read it. */
function write(file, found) {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(found));
    renameSync(`${file}.${process.pid}`, file);
  } catch {
    // A folder that this process may not write: the next start looks for its modules again.
  }
}

/** Whether the place of what a module imports depends on `node_modules` alone. */
function isKept(specifier, { parentURL, conditions, importAttributes }) {
  if (!parentURL?.startsWith(ours) || !conditions.includes("import")) return false;
  if (Object.keys(importAttributes ?? {}).length > 0) return false;
  return parentURL.startsWith(theirs) || IS_BARE.test(specifier);
}

const file = fileOfProgram();
if (file !== undefined) {
  /**
   * The place and format of each imported module, by the importing module and the name that it imports. Places of
   * importing modules begin in the repository, those of imported modules in `node_modules`.
   */
  const found = read(file);
  let isNew = false;
  module.registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!isKept(specifier, context)) return nextResolve(specifier, context);
      const from = context.parentURL.slice(ours.length);
      const [place, format] = found[from]?.[specifier] ?? [];
      if (place !== undefined && existsSync(libraries + place))
        return { url: theirs + place, format, shortCircuit: true };
      const result = nextResolve(specifier, context);
      if (result.url.startsWith(theirs) && !/[?#%]/.test(result.url) && typeof result.format === "string") {
        found[from] ??= {};
        found[from][specifier] = [result.url.slice(theirs.length), result.format];
        isNew = true;
      }
      return result;
    },
  });
  if (isMainThread) process.once("exit", () => isNew && write(file, found));
}
