import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { type OwnManifest, publishedManifest } from "../../tools/pack/publishedManifest.ts";
import { mapSpecifiers, splitSpecifier } from "../../tools/pack/specifiers.ts";

const root = { version: "1.2.3", engines: { node: ">=22.13" } };
const own: OwnManifest = {
  name: "tallystick-sdk",
  description: "What an agent imports.",
  license: "MIT",
  type: "module",
  sideEffects: ["./worker.ts"],
  imports: { "#connections": { node: "./node.ts", default: "./browser.ts" } },
  dependencies: { hono: "4.0.0", pg: "8.0.0", "tallystick-protocol": "*", zod: "4.1.0" },
  peerDependencies: { viem: "^2.0.0", ai: "^7.0.0" },
  peerDependenciesMeta: { ai: { optional: true } },
  publishConfig: { exports: { ".": "./index.ts" }, bin: { tallystick: "./main.ts" } },
};
const publish = (...imported: string[]) =>
  publishedManifest({ own, root, internal: ["store/fileStore"], imported: new Set(imported) });

describe("the package.json of a published package", () => {
  it("names the imported packages, our own ones in exactly this version, and exports only the listed entry points", () => {
    expect(publish("zod", "tallystick-protocol", "viem")).to.deep.equal({
      name: "tallystick-sdk",
      version: "1.2.3",
      description: "What an agent imports.",
      license: "MIT",
      type: "module",
      engines: { node: ">=22.13" },
      sideEffects: ["./worker.js"],
      imports: { "#connections": { node: "./node.js", default: "./browser.js" } },
      bin: { tallystick: "./main.js" },
      exports: {
        ".": { types: "./index.d.ts", default: "./index.js" },
        "./internal/store/fileStore": {
          types: "./store/fileStore.d.ts",
          default: "./store/fileStore.js",
        },
        "./package.json": "./package.json",
      },
      dependencies: { "tallystick-protocol": "1.2.3", zod: "4.1.0" },
      peerDependencies: { viem: "^2.0.0" },
    });
  });

  it("makes a peer dependency optional if only some entry points need it", () => {
    const { peerDependencies, peerDependenciesMeta } = publish("viem", "ai");
    expect(peerDependencies).to.deep.equal({ ai: "^7.0.0", viem: "^2.0.0" });
    expect(peerDependenciesMeta).to.deep.equal({ ai: { optional: true } });
    expect(publish("viem")).not.to.have.property("peerDependenciesMeta");
  });

  it("is refused if the code imports an unnamed package, a package that agents must not install, or its own package", () => {
    expect(() => publish("undici")).to.throw("imports undici, which its package.json does not name");
    expect(() => publish("pg")).to.throw("imports pg, which agents are not to install");
    expect(() => publish("tallystick-runtime")).to.throw("which agents are not to install");
    expect(() => publish("tallystick-sdk")).to.throw("imports itself by its name");
  });

  it("is made from every form of an import that the compiler writes, and from no other text", () => {
    const code = [
      'import { a, type B, } from "./a.js";',
      'import {\n  c,\n} from "tallystick-protocol/records/record";',
      'import "./side.js";',
      'export * as d from "./d.js";',
      'export type { E } from "@x402/core/server";',
      'const f = await import("./f.js");',
      'declare const g: import("./g.ts").G<import("zod").H>;',
      ' * import { shown } from "a comment";',
      'const text = "imported from here";',
    ].join("\n");
    const found: string[] = [];
    const changed = mapSpecifiers(code, (specifier) => {
      found.push(specifier);
      return specifier.toUpperCase();
    });
    expect(found).to.deep.equal([
      "./a.js",
      "tallystick-protocol/records/record",
      "./side.js",
      "./d.js",
      "@x402/core/server",
      "./f.js",
      "./g.ts",
      "zod",
    ]);
    expect(changed)
      .to.include('} from "TALLYSTICK-PROTOCOL/RECORDS/RECORD";\n')
      .and.include('import("ZOD").H');
    expect(splitSpecifier("@x402/core/server")).to.deep.equal({ name: "@x402/core", entry: "./server" });
    expect(splitSpecifier("viem")).to.deep.equal({ name: "viem", entry: "." });
  });
});

describe("the packages that are published", () => {
  const read = (file: string) => readFileSync(path.join(repositoryRoot, file), "utf8");
  const published = globSync("packages/*/package.json", { cwd: repositoryRoot })
    .map((file) => ({ folder: path.dirname(file), own: JSON.parse(read(file)) as OwnManifest }))
    .filter((it) => it.own.publishConfig);

  it("have entry points that name their exports, and no version or viem of their own", () => {
    const { dependencies } = JSON.parse(read("package.json"));
    expect(published).to.have.length(5);
    for (const { folder, own } of published) {
      for (const file of Object.values(own.publishConfig.exports)) {
        expect(existsSync(path.join(repositoryRoot, folder, file)), `${folder}/${file}`).to.equal(true);
        expect(read(`${folder}/${file}`)).to.not.match(/^export (type )?\* from/m);
      }
      expect(own).to.not.have.property("version");
      expect(own.dependencies).to.not.have.property("viem");
      // The oldest allowed viem is the version with which all other tests run.
      const viem = own.peerDependencies?.viem;
      if (viem !== undefined) expect(viem).to.equal(`^${dependencies.viem}`);
    }
  });

  it("are imported module by module in the checkout, because the entry points are for other projects", () => {
    const entries = published.flatMap(({ folder, own }) =>
      Object.entries(own.publishConfig.exports)
        .filter(([, file]) => /^\/\*\* .* \*\/\nexport/.test(read(`${folder}/${file}`)))
        .map(([entry]) => path.posix.join(own.name, entry)),
    );
    expect(entries).to.include.members(["tallystick-sdk", "tallystick-sdk/buyer", "tallystick-derive"]);
    const files = globSync("{packages,services,indexer,scripts,tools}/**/*.ts", { cwd: repositoryRoot });
    expect(files.length).to.be.above(500);
    const wrong: string[] = [];
    for (const file of files) {
      mapSpecifiers(read(file), (specifier) => {
        if (entries.includes(specifier)) wrong.push(`${file} imports ${specifier}`);
        return specifier;
      });
    }
    expect(wrong).to.deep.equal([]);
  });
});
