import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { MCP_SERVER } from "tallystick-mcp/createTallystickMcp";
import { agentCard } from "../../indexer/api/rest/agentCard.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), "utf8");
const { version } = JSON.parse(read("package.json")) as { version: string };

describe("the version", () => {
  it("is in package.json, and is the same in files that cannot read it from there", () => {
    expect(MCP_SERVER.version).to.equal(version);
    expect(agentCard("https://node.example").version).to.equal(version);
    const lock = JSON.parse(read("package-lock.json"));
    expect([lock.version, lock.packages[""].version]).to.deep.equal([version, version]);
    const server = JSON.parse(read("packages/mcp/server.json"));
    expect([server.version, server.packages[0].version]).to.deep.equal([version, version]);
  });

  it("is written nowhere else", () => {
    // These files tell the version to other programs. Other files may contain equal versions of other things.
    const files = globSync("{packages/mcp,services,indexer,docs}/**/*.{ts,json,md}", { cwd: repositoryRoot });
    expect(files).to.have.length.above(200);
    const found = new RegExp(`(?<![\\d.])${version.replaceAll(".", "\\.")}(?![\\d.]*\\d)`);
    const said = files.filter((file) => found.test(read(file)));
    expect(said.sort()).to.deep.equal(["packages/mcp/createTallystickMcp.ts", "packages/mcp/server.json"]);
  });

  it("is not in the package.json of any package, because published packages get it when they are made", () => {
    const own = globSync("{packages,services}/*/package.json", { cwd: repositoryRoot }).filter(
      (file) => JSON.parse(read(file)).version !== undefined,
    );
    expect(own).to.deep.equal([]);
  });
});
