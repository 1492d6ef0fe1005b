import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { createProgress } from "../../../scripts/cli/progress.ts";

/** A stream that stores what is written. */
function memoryStream(isTTY: boolean): { stream: NodeJS.WriteStream; text: () => string } {
  let text = "";
  const sink = new Writable({
    write(part, _encoding, done) {
      text += part;
      done();
    },
  });
  const stream = Object.assign(sink, { isTTY, columns: 80 }) as unknown as NodeJS.WriteStream;
  return { stream, text: () => stripVTControlCharacters(text) };
}

describe("scripts/cli/progress", () => {
  it("reports when a step is done, with its detail, and returns its value", async () => {
    const { stream, text } = memoryStream(false);
    const value = await createProgress({ stream }).step("chain", async () => ({
      detail: "on port 1",
      value: 7,
    }));
    expect(value).to.equal(7);
    expect(text()).to.match(/^ {2}✔ chain +on port 1 {2}0\.0 s\n$/);
  });

  it("marks a step that fails, and passes its error on", async () => {
    const { stream, text } = memoryStream(false);
    const failing = createProgress({ stream }).step("chain", async () => {
      throw new Error("no");
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal("no");
    expect(text()).to.equal("  ✘ chain\n");
  });

  it("shows the running step on a terminal, and removes it afterwards", async () => {
    const { stream, text } = memoryStream(true);
    const progress = createProgress({ stream });
    await Promise.all(
      ["chain", "indexer"].map((title) => progress.step(title, async () => ({ value: title }))),
    );
    expect(text()).to.contain("… chain, indexer");
    expect(text().split("\r").at(-1)).to.not.contain("…");
  });

  it("is silent on request", async () => {
    const { stream, text } = memoryStream(true);
    const progress = createProgress({ stream, silent: true });
    progress.heading("heading");
    await progress.step("chain", async () => ({ value: 1 }));
    expect(text()).to.equal("");
  });
});
