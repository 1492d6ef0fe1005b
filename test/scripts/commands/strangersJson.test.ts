import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { fakeNode } from "../../sdk/openLog/fakeNode.ts";
import { story } from "../../sdk/openLog/story.ts";
import { commandHere } from "../../support/commandHere.ts";
import { testDatabase } from "../../support/testDatabase.ts";

/** A C1 control that begins an escape sequence, a mark that turns the direction of text, and a line separator. */
const CONTROL = "\u009b2J\u202e\u2028";

describe("JSON of strangers' texts, as a command prints it", () => {
  it("has no control of the terminal in a line of a node's log that differs", async () => {
    const changed = story(3);
    const at = changed.events.findIndex(({ kind }) => kind === "transfer");
    Object.assign(changed.events[at] as object, { value: "777", note: CONTROL });
    const nodes = [await fakeNode(story(3)), await fakeNode(changed)];
    const { code, out } = await commandHere(["compare", ...nodes.map(({ url }) => url), "--json"]);
    for (const node of nodes) await node.close();
    expect(code).to.equal(1);
    expect(out).to.match(/^[ -~\n]+$/);
    const [, [, line]] = JSON.parse(out).difference.line.texts;
    expect(JSON.parse(line).note).to.equal(CONTROL);
  });

  it("has none in a row of the database", async () => {
    const { code, out } = await commandHere(["sql", "SELECT U&'\\009b2J\\202e\\2028' AS endpoint"], {
      DATABASE_URL: await testDatabase(),
    });
    expect([code, out]).to.deep.equal([0, '{"endpoint":"\\u009b2J\\u202e\\u2028"}\n']);
  });

  it("is written by one function in all commands", () => {
    const folder = path.join(repositoryRoot, "scripts", "commands");
    const others = readdirSync(folder).filter((file) =>
      /\.write\([^;]*JSON\.stringify/.test(readFileSync(path.join(folder, file), "utf8")),
    );
    expect(others).to.deep.equal([]);
  });
});
