#!/usr/bin/env node
// Builds the portal into files that any HTTP host can serve, under any path: `node portal/build.mjs [FOLDER]`.
// Without FOLDER, the files go into portal/dist, from where a node serves them. This file is plain JavaScript, so
// every Node that Vite supports can run it directly.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "vite";
import { POLICY } from "./policy.mjs";
import viteConfig from "./vite.config.mjs";

const MARK = 'name="portal-build" content="development"';

/**
 * Builds the portal. The same sources and packages give the same bytes.
 *
 * @param {string} outDir
 * @returns {Promise<string>} the SHA-256 of all files, as `sha256:…`. It is computed before this hash and the
 *  content policy are written into index.html
 */
export async function buildPortal(outDir) {
  await build({
    ...viteConfig,
    configFile: false,
    logLevel: "error",
    build: { ...viteConfig.build, outDir, emptyOutDir: true },
  });
  const names = readdirSync(outDir, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => path.relative(outDir, path.join(it.parentPath, it.name)).replaceAll("\\", "/"))
    .sort();
  const hash = createHash("sha256");
  for (const name of names) {
    const content = readFileSync(path.join(outDir, name));
    hash.update(`${name} ${content.length}\n`).update(content);
  }
  const id = `sha256:${hash.digest("hex")}`;
  const index = path.join(outDir, "index.html");
  const html = readFileSync(index, "utf8");
  if (!html.includes(MARK)) throw new Error(`index.html has no place for the hash of the build: ${MARK}`);
  const policy = `<meta http-equiv="content-security-policy" content="${POLICY}" />`;
  writeFileSync(
    index,
    html
      .replace(MARK, `name="portal-build" content="${id}"`)
      .replace('<meta charset="utf-8" />', `<meta charset="utf-8" />\n    ${policy}`),
  );
  return id;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const folder = process.argv[2] ?? fileURLToPath(new URL("dist", import.meta.url));
  console.log(`${await buildPortal(path.resolve(folder))} ${folder}`);
}
