// Ponder runs every module through Vite, and that takes most of the time of a start. Node reads TypeScript itself from version 24
// on, and stores the compiled code (NODE_COMPILE_CACHE). So in place of a module, Vite gets one line that asks Node for
// the module. Under an older Node nothing changes. This file is CommonJS, because Vite would first write any other
// configuration to disk.
const { readFileSync } = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const repository = path.resolve(__dirname, "..");
const nodeReadsTypeScript =
  process.features.typescript === "strip" && Number.parseInt(process.versions.node, 10) >= 24;

/**
 * Modules that exist only inside Ponder, such as "ponder:registry". Imports of their types are removed before Node
 * reads a file.
 */
const importsFromPonder = /^import (?!type\b)[^;]* from "ponder:/m;

/** Whether a file is one of our modules, and Node can load it. */
function isForNode(file) {
  const isOurs =
    file.startsWith(`${repository}${path.sep}`) && !file.includes(`${path.sep}node_modules${path.sep}`);
  return isOurs && file.endsWith(".ts") && !importsFromPonder.test(readFileSync(file, "utf8"));
}

const loadedByNode = {
  name: "loaded-by-node",
  enforce: "pre",
  /**
   * Loads the derivation before Ponder starts to measure time: it gives each file of handlers ten seconds. Only pure code can be
   * loaded this early, because the schema and the configuration read settings that Ponder makes later.
   */
  async buildStart() {
    await import(pathToFileURL(path.join(repository, "packages/derive/index.ts")).href);
  },
  load(id) {
    if (!isForNode(id)) return null;
    const url = pathToFileURL(id).href;
    const hasDefault = /^export default |\bdefault\b.* from /m.test(readFileSync(id, "utf8"));
    const everythingOf = (from) =>
      `export * from ${JSON.stringify(from)};${hasDefault ? `export { default } from ${JSON.stringify(from)};` : ""}`;
    // Vite leaves the address of a "data:" module alone, and Node may import files from it.
    return everythingOf(`data:text/javascript,${encodeURIComponent(everythingOf(url))}`);
  },
};

module.exports = { plugins: nodeReadsTypeScript ? [loadedByNode] : [] };
