import { fileURLToPath } from "node:url";

/**
 * How Vite serves the portal while somebody works on it, and how it builds it.
 *
 * @type {import("vite").UserConfig}
 */
export default {
  root: fileURLToPath(new URL(".", import.meta.url)),
  // Wherever the files stand.
  base: "./",
  // The packages of this repository are read as they are.
  publicDir: false,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    // A file of its own for everything: the policy lets nothing be part of a page.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  worker: { format: "es" },
};
