import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { expect } from "chai";
import { isAlive, untilGone } from "../fixtures/gone.ts";

describe("scripts/cli/lifeline", () => {
  it("ends a program whose starter is killed by SIGKILL, and is not passed on to children", async () => {
    const file = path.join(import.meta.dirname, "../fixtures/holdsLifeline.mjs");
    const starter = spawn(process.execPath, [file], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(starter.stdout, "data");
    const [pid, passedOn] = String(line).trim().split(/ (.*)/);
    expect(passedOn).to.equal("not passed on");
    expect(isAlive(Number(pid))).to.equal(true);
    starter.kill("SIGKILL");
    await untilGone({ pids: [Number(pid)] });
  });
});
