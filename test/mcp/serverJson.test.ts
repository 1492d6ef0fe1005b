import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { MCP_SERVER } from "tallystick-mcp/createTallystickMcp";
import { readMcpConfig } from "tallystick-mcp/mcpConfig";
import { baseSepolia } from "tallystick-sdk/chain/paymentNetwork";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), "utf8");
const server = JSON.parse(read("packages/mcp/server.json"));
const published = JSON.parse(read("packages/mcp/package.json"));

describe("server.json", () => {
  it("has the same name and version as the server itself", () => {
    expect(server.name.split("/")[1]).to.equal(MCP_SERVER.name);
    expect(server.packages[0].identifier).to.equal(published.name);
    // The registry compares these two names, to check that server.json may name the package.
    expect(server.name).to.equal(published.mcpName);
    expect(MCP_SERVER.version).to.equal(JSON.parse(read("package.json")).version);
    expect(server.title).to.equal(MCP_SERVER.title);
    for (const version of [server.version, server.packages[0].version])
      expect(version).to.equal(MCP_SERVER.version);
  });

  it("lists every setting of a server over stdio, and marks secrets", () => {
    const schema =
      /environmentSchema = z\.object\(\{\n([\s\S]*?)\n\}\);/.exec(read("packages/mcp/mcpConfig.ts"))?.[1] ??
      "";
    const settings = [...schema.matchAll(/^ {2}([A-Z][A-Z0-9_]*):/gm)].map(([, name]) => name);
    const listed: { name: string; isSecret?: boolean }[] = server.packages[0].environmentVariables;
    // TALLYSTICK_MCP_KEY is only for HTTP.
    expect([...listed.map(({ name }) => name), "TALLYSTICK_MCP_KEY"].sort()).to.deep.equal(settings.sort());
    const secret = listed.filter(({ isSecret }) => isSecret).map(({ name }) => name);
    expect(secret.sort()).to.deep.equal([
      "TALLYSTICK_API_KEY",
      "TALLYSTICK_DISPATCH_KEY",
      "TALLYSTICK_PRIVATE_KEY",
    ]);
  });

  it("has defaults with which the number of Base Sepolia is all that a server on that chain needs", () => {
    const listed: { name: string; default?: string }[] = server.packages[0].environmentVariables;
    const defaults = Object.fromEntries(listed.map(({ name, default: value }) => [name, value]));
    const chain = { TALLYSTICK_URL: "https://node.example", TALLYSTICK_CHAIN_ID: "84532" };
    expect(readMcpConfig({ ...defaults, ...chain }).network).to.deep.equal(baseSepolia);
  });

  it("respects the registry's limits", () => {
    expect(server.description.length).to.be.at.most(100);
    expect(server.name).to.match(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  });
});
