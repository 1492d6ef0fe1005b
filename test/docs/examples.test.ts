import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import {
  buildSchema,
  FieldsOnCorrectTypeRule,
  type GraphQLObjectType,
  isObjectType,
  parse,
  validate,
} from "graphql";
import { escrowsSchema } from "tallystick-mcp/escrowSetting";
import { readActionRules } from "tallystick-protocol/actions/actionRules";
import { parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { parseTrustPolicy } from "tallystick-protocol/note/trustPolicy";
import { parseNotice } from "tallystick-protocol/notices/notice";
import { parse as parseYaml } from "yaml";
import { searchRequest } from "../../indexer/api/rest/schemas.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { readCanaryPlan } from "../../services/auditing/canaryPlan.ts";
import { readModels } from "../../services/dispatch/models/readModels.ts";
import { readTask } from "../../services/dispatch/tasks/task.ts";
import { parseRules } from "../../services/settlement/engine/institutionalRules.ts";
import { type Code, codeOf } from "./support/code.ts";
import { documents, textOf } from "./support/documents.ts";

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), "utf8");
const rules = (value: string) =>
  parseRules(parsePythonJson(value, { duplicateKeys: "refuse" }), {
    minConfidence: 0.85,
    maxDriftAllowed: 0.15,
  });

/** The block of a page that contains this text. */
function blockWith(page: string, text: string): string {
  const found = codeOf(textOf(page)).blocks.filter((block) => block.text.includes(text));
  expect(found, `${page}: ${text}`).to.have.length(1);
  return (found[0] as Code).text;
}

/** Values that replace `…` in the examples: an address, and a key or hash of 32 bytes. */
const address = `0x${"a".repeat(40)}`;
const bytes32 = `0x${"1".repeat(64)}`;

/** The JSON values in a text, one after another. `…` is replaced or removed. */
function valuesIn(text: string): unknown[] {
  const filled = text
    .replaceAll(/"…"/g, '"some"')
    .replaceAll(/:…/g, ":null")
    .replaceAll(/, ?…(?=[}\]])|…(?=[}\]])/g, "");
  const values: unknown[] = [];
  let [start, depth, inString] = [-1, 0, false];
  for (let at = 0; at < filled.length; at++) {
    const char = filled[at];
    if (inString) {
      if (char === "\\") at += 1;
      else if (char === '"') inString = false;
      continue;
    }
    if (char === '"') inString = true;
    if (char === "{" || char === "[") {
      if (depth === 0) start = at;
      depth += 1;
    }
    if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) values.push(JSON.parse(filled.slice(start, at + 1)));
    }
  }
  expect(depth, filled).to.equal(0);
  return values;
}

describe("the examples in the documents", () => {
  const blocks = documents.flatMap((name) =>
    codeOf(textOf(name)).blocks.map((block) => ({ name, ...block })),
  );

  it("in JSON and YAML can be parsed", () => {
    const json = blocks.filter(({ language }) => language === "json");
    expect(json).to.have.length.above(6);
    for (const { name, text } of json) expect(valuesIn(text), name).to.have.length.above(0);
    for (const { text } of blocks.filter(({ language }) => language === "yaml"))
      expect(parseYaml(text)).to.be.an("object");
  });

  it("of a search are a request that the node accepts, with every field", () => {
    const [request] = valuesIn(blockWith("docs/rest.md", '"capability": "text.translate.en.it"'));
    const fields = Object.keys(searchRequest.parse(request));
    // `cursor` comes from the previous answer.
    expect(fields).to.have.members(Object.keys(searchRequest.shape).filter((field) => field !== "cursor"));
  });

  it("of settlement's rules are valid", () => {
    expect(rules(blockWith("docs/settlement/operations.md", '"core_logic"')).actions.size).to.equal(3);
    const text = blockWith("docs/settlement/actions.md", '"action_rules"');
    const { action_rules: actions } = JSON.parse(text.replaceAll("0x…", address));
    expect(readActionRules(actions).rules).to.have.length(4);
    expect(() => readActionRules({ ...actions, rules: [{ ...actions.rules[0], folder: "/" }] })).to.throw();
    const [comparators = ""] =
      /\{"comparators": .*?\}\]\}/s.exec(textOf("docs/settlement/operations.md")) ?? [];
    expect(rules(`{"version": 1, ${comparators.slice(1)}`).comparators).to.have.length(2);
  });

  it("of a dispatcher's models and task are valid", async () => {
    const { tiers } = readModels(blockWith("docs/dispatch.md", "openai-compatible"));
    expect(Object.keys(tiers)).to.deep.equal(["thrifty", "standard", "premium"]);
    const [, task = ""] = /-d '(.*)'/.exec(blockWith("docs/dispatch.md", "curl -s")) ?? [];
    expect(await readTask(JSON.parse(task), "me")).to.include({ taskId: "try-1", key: "capital_of_italy" });
  });

  it("of escrows, canaries, policies and notices are valid", () => {
    const escrows = blockWith("docs/mcp.md", '"custom_escrow:').replaceAll("0x…", address);
    expect(Object.keys(escrowsSchema.parse(escrows))).to.have.length(2);
    const [, line = ""] = /^# (\{"platform_escrow.*\})$/m.exec(read(".env.example")) ?? [];
    expect(Object.keys(escrowsSchema.parse(line.replaceAll("0x…", address)))).to.have.length(1);
    const canaries = blockWith("docs/operators.md", '"hire_after"')
      .replace('"private_key": "0x…"', `"private_key": "${bytes32}"`)
      .replaceAll('"0x…"', `"${address}"`);
    expect(readCanaryPlan(canaries).hires).to.have.length(1);
    const [notice] = valuesIn(blockWith("docs/notices.md", '"ntc_…"')) as { body: Record<string, unknown> }[];
    const filled = { ...notice?.body, ledger: bytes32, buyer: address, agent: address };
    const ids = { id: `ntc_${"0".repeat(26)}`, breach: `brch_${"0".repeat(26)}` };
    expect(parseNotice({ ...filled, ...ids } as never)).to.include({ step: "confirmed" });
    const policy = blockWith("docs/settlement/proofs.md", "group any-two");
    // Only the keys of the example are refused, because they are shortened.
    expect(() => parseTrustPolicy(policy, "policy")).to.throw(/key/);
  });

  it("in GraphQL are valid for the committed schema", () => {
    const schema = buildSchema(read("indexer/schema.graphql"));
    const [shown = ""] = /\{\n {4}agents\(first[\s\S]*?\n {2}\}/.exec(textOf("README.md")) ?? [];
    const whole = [
      { name: "README.md", text: shown },
      ...blocks.filter(({ language }) => language === "graphql"),
    ];
    expect(whole).to.have.length.above(14);
    for (const { name, text } of whole)
      expect(validate(schema, parse(text)), `${name}: ${text}`).to.deep.equal([]);

    // A sentence may have only a part of a query: `agent(address) { … }`, or `rounds { attempts }` of an audit.
    const parts = documents.flatMap((name) =>
      codeOf(textOf(name))
        .inline.filter((code) => /^[a-z]\w*(?:\([^)]*\))? \{ (?:[^{}]|\{ ?)+(?: \})+$/.test(code))
        .map((code) => ({
          name,
          code,
          text: code.replaceAll(/\([^)]*\)/g, "").replaceAll("…", "__typename"),
        })),
    );
    expect(parts).to.have.length.above(20);
    const owners = Object.values(schema.getTypeMap()).filter(
      (type) => isObjectType(type) && !type.name.startsWith("__"),
    ) as GraphQLObjectType[];
    const wrong = parts.filter(({ text }) => {
      const [field = ""] = /^\w+/.exec(text) ?? [];
      const queries = owners
        .filter((type) => field in type.getFields())
        .map(({ name }) => parse(`fragment Part on ${name} { ${text} }`));
      return !queries.some((query) => validate(schema, query, [FieldsOnCorrectTypeRule]).length === 0);
    });
    expect(wrong.map(({ name, code }) => `${name}: ${code}`)).to.deep.equal([]);
  });
});
