import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

type Plugin = { load(id: string): string | null };
const load = createRequire(import.meta.url);
const { plugins } = load("../../indexer/vite.config.cjs") as { plugins: Plugin[] };
const inRepository = (file: string) => path.join(repositoryRoot, file);

describe("the modules that Ponder's Vite leaves to Node", () => {
  it("need one plugin if Node reads TypeScript by itself, and no plugin otherwise", () => {
    const reads = process.features.typescript === "strip" && Number.parseInt(process.versions.node, 10) >= 24;
    expect(plugins).to.have.length(reads ? 1 : 0);
  });

  for (const plugin of plugins) {
    /** Lets Node run the line of code that replaces a module, and gives its exports. */
    const standIn = async (file: string) => {
      const source = plugin.load(inRepository(file));
      return (await import(`data:text/javascript,${encodeURIComponent(source ?? "")}`)) as Record<
        string,
        unknown
      >;
    };

    it("are loaded once, so that Ponder and other importers have the same module", async () => {
      const name = "packages/protocol/errors.ts";
      const [replaced, real] = [
        await standIn(name),
        (await import(inRepository(name))) as Record<string, unknown>,
      ];
      expect(Object.keys(replaced)).to.deep.equal(Object.keys(real)).and.not.be.empty;
      for (const key of Object.keys(real)) expect(replaced[key], key).to.equal(real[key]);
    });

    it("keep their default export, also if they re-export it from another module", () => {
      expect(plugin.load(inRepository("indexer/ponder.config.ts"))).to.include("export { default }");
      expect(plugin.load(inRepository("ponder.config.ts"))).to.include("export { default }");
      expect(plugin.load(inRepository("indexer/ponder.schema.ts"))).not.to.include("default");
    });

    it("never include modules that import Ponder's virtual modules, modules of libraries, or files outside of the repository", () => {
      const folder = inRepository("indexer/src/handlers");
      const asking = readdirSync(folder)
        .map((file) => path.join(folder, file))
        .filter((file) => /^import \{ ponder \} from "ponder:/m.test(readFileSync(file, "utf8")));
      expect(asking).not.to.be.empty;
      for (const file of [
        ...asking,
        inRepository("node_modules/tsx/x.ts"),
        "/elsewhere/a.ts",
        "ponder:registry",
      ])
        expect(plugin.load(file), file).to.equal(null);
    });
  }
});
