// The first import of a Node that runs TypeScript. Node 24 and later read TypeScript themselves, in a third
// of tsx's time. They do not read `.tsx`, but only the portal has such files, and esbuild compiles them.
import "./rememberModules.mjs";

if (process.features.typescript !== "strip" || Number.parseInt(process.versions.node, 10) < 24) {
  await import("tsx");
}
