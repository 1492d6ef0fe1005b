import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";

describe("a command that serves until it is stopped", () => {
  it("says where it listens, survives a request that fails after its answer, and closes at a signal", async () => {
    const child = spawn(process.execPath, nodeProgram("test/scripts/cli/servedCommand.ts"), {
      stdio: ["ignore", "pipe", "pipe"],
    });
    try {
      const logged = text(child.stderr);
      const lines: string[] = [];
      const reader = createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
      await once(reader, "line");
      const { listening, ...about } = JSON.parse(lines[0] ?? "");
      expect(about).to.deep.equal({ folder: "here" });
      // Its connection may end before the answer arrives.
      await fetch(`${listening}/fails`).then(
        (it) => it.text(),
        () => {},
      );
      expect(await (await fetch(listening)).text()).to.equal("served");
      child.kill("SIGTERM");
      expect(await once(child, "exit")).to.deep.equal([0, null]);
      expect(lines.slice(1)).to.deep.equal(["closed"]);
      expect(await logged).to.contain('A request caused an internal error. error="it fails later"');
    } finally {
      child.kill("SIGKILL");
    }
  });
});
