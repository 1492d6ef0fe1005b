import { fileURLToPath } from "node:url";

/**
 * The configuration with which Vite serves the portal for developers, and builds it.
 *
 * @type {import("vite").UserConfig}
 */
export default {
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Relative paths, so that the files work at any address.
  base: "./",
  // There is no folder of files that the build copies as they are.
  publicDir: false,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    // Every asset is a separate file, because the policy forbids inline content.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  worker: { format: "es" },
};
