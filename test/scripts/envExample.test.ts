import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { vendorKeys } from "../../services/dispatch/config.ts";

const read = (file: string) => readFileSync(path.join(repositoryRoot, file), "utf8");

/** The variables that a configuration reads: the keys of its `environmentSchema`. */
function variablesOf(file: string): string[] {
  const schema = /environmentSchema = z\.object\(\{\n([\s\S]*?)\n\}\);/.exec(read(file))?.[1] ?? "";
  return [...schema.matchAll(/^ {2}([A-Z][A-Z0-9_]*):/gm)].map((match) => match[1] as string);
}

describe(".env.example", () => {
  const listed = [...read(".env.example").matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(
    (match) => match[1] as string,
  );

  it("lists every variable of settlement, indexer, keeper, prober, witness, mirror, auditing, notifier, dispatcher, npm start and the compose file, and no other but the deployer's key", () => {
    const wanted = new Set([
      ...variablesOf("services/settlement/config.ts"),
      ...variablesOf("services/probing/config.ts"),
      ...variablesOf("indexer/config.ts"),
      ...variablesOf("services/auditing/config.ts"),
      ...variablesOf("services/notifying/config.ts"),
      ...variablesOf("services/dispatch/config.ts"),
      ...vendorKeys,
      ...variablesOf("scripts/keeper/config.ts"),
      ...variablesOf("services/witness/config.ts"),
      ...variablesOf("services/settlement/mirror/mirrorConfig.ts"),
      ...variablesOf("packages/mcp/mcpConfig.ts"),
      ...variablesOf("scripts/start/nodeEnvironment.ts"),
      ...[...read("compose.yaml").matchAll(/\$\{([A-Z_]+)/g)].map((match) => match[1] as string),
      "DEPLOYER_PRIVATE_KEY",
    ]);
    expect(wanted).to.have.property("size").that.is.greaterThan(20);
    expect([...listed].sort()).to.deep.equal([...wanted].sort());
  });
});
