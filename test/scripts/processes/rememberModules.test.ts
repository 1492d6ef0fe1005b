import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import module from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

/** A program that imports a library by name. The library's modules import each other. */
const PROGRAM = `import * as hono from "hono"; console.log(Object.keys(hono), import.meta.resolve("hono"));`;

type Found = { [from: string]: { [specifier: string]: [place: string, format: string] } };

describe("scripts/processes/rememberModules", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-found-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function run(settings: Record<string, string> = { NODE_COMPILE_CACHE: folder }): Promise<string> {
    const args = [
      "--import",
      "./scripts/processes/rememberModules.mjs",
      "--input-type=module",
      "-e",
      PROGRAM,
    ];
    const env = childEnvironment({ NODE_COMPILE_CACHE: "", ...settings });
    return (await promisify(execFile)(process.execPath, args, { cwd: repositoryRoot, env })).stdout;
  }
  const files = () =>
    readdirSync(folder)
      .filter((name) => name.startsWith("found-"))
      .map((name) => path.join(folder, name));

  it("stores nothing if Node stores no compiled code", async () => {
    await run({});
    expect(readdirSync(folder)).to.deep.equal([]);
  });

  // Node has the hooks from 22.15 on. Before this version nothing is stored.
  if (module.registerHooks === undefined) return;

  it("stores where libraries' modules are; the next start uses this and has the same modules", async () => {
    const plain = await run({});
    expect(plain).to.contain("/node_modules/hono/dist/index.js");
    expect(await run()).to.equal(plain);
    const [file = "", ...others] = files();
    expect(others).to.deep.equal([]);
    const found = JSON.parse(readFileSync(file, "utf8")) as Found;
    expect(found["node_modules/hono/dist/index.js"]?.["./hono.js"]).to.deep.equal([
      "hono/dist/hono.js",
      "module",
    ]);

    const { mtimeMs } = statSync(file);
    expect(await run()).to.equal(plain);
    expect(statSync(file).mtimeMs, "nothing new").to.equal(mtimeMs);

    // The file is used: a changed path of a module has an effect.
    const [, byName] = Object.entries(found).find(([, it]) => it.hono !== undefined) ?? [];
    byName!.hono = ["hono/dist/http-exception.js", "module"];
    writeFileSync(file, JSON.stringify(found));
    expect(await run()).to.contain("HTTPException");
  });

  it("looks again for a module that is no longer there, and ignores a damaged file", async () => {
    const plain = await run();
    const [file = ""] = files();
    for (const damage of ["{", "null", '"found"', "[1]", JSON.stringify(gone(file))]) {
      writeFileSync(file, damage);
      expect(await run(), damage.slice(0, 40)).to.equal(plain);
    }
  });

  /** The content of a file after a library moved all its modules. */
  function gone(file: string): Found {
    const found = JSON.parse(readFileSync(file, "utf8")) as Found;
    for (const places of Object.values(found))
      for (const [specifier, [place, format]] of Object.entries(places))
        places[specifier] = [`${place}.gone`, format];
    return found;
  }
});
