// Ponder runs every module through Vite, and that takes most of the time of a start. Node reads TypeScript itself from 24 on, and
// keeps what it has compiled (NODE_COMPILE_CACHE). So Vite gets one line in place of a module, which asks Node for it.
// Under an older Node nothing changes. This file is CommonJS because Vite writes any other configuration to disk once more.
const { readFileSync } = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const repository = path.resolve(__dirname, "..");
const nodeReadsTypeScript =
  process.features.typescript === "strip" && Number.parseInt(process.versions.node, 10) >= 24;

/** Modules that Ponder makes up, such as "ponder:registry". Types of them are gone before Node looks. */
const importsFromPonder = /^import (?!type\b)[^;]* from "ponder:/m;

/** Whether it is a module of ours that Node can load. */
function isForNode(file) {
  const isOurs =
    file.startsWith(`${repository}${path.sep}`) && !file.includes(`${path.sep}node_modules${path.sep}`);
  return isOurs && file.endsWith(".ts") && !importsFromPonder.test(readFileSync(file, "utf8"));
}

const loadedByNode = {
  name: "loaded-by-node",
  enforce: "pre",
  /**
   * Loads the derivation before Ponder looks at its watch: it gives each file of handlers ten seconds. Only what is pure can be loaded
   * this early, since the schema and the configuration read what Ponder sets later.
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
