import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { isAlive, untilGone } from "../../scripts/fixtures/gone.ts";

describe("tools/bench/api/apiServer", () => {
  it("ends when only the bench that started it gets SIGINT", async () => {
    const args = nodeProgram("tools/bench/api/apiServer.ts", ["postgres://nobody@127.0.0.1:1/nothing"]);
    const bench = `
      const { spawn } = require("node:child_process");
      const server = spawn(process.execPath, ${JSON.stringify(args)}, { stdio: ["pipe", "pipe", "ignore"] });
      server.stdout.once("data", () => console.log(server.pid));`;
    const starter = spawn(process.execPath, ["-e", bench], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(starter.stdout, "data");
    const pid = Number(String(line));
    try {
      expect(isAlive(pid)).to.equal(true);
      starter.kill("SIGINT");
      await untilGone({ pids: [pid] });
    } finally {
      if (isAlive(pid)) process.kill(pid, "SIGKILL");
    }
  });
});
