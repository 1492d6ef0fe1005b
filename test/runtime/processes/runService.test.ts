import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";

const program = path.relative(process.cwd(), path.join(import.meta.dirname, "support/service.ts"));

/** Starts a service, sends it a signal after it prints its address, and waits for its end. */
async function run(kind: string) {
  const child = spawn(process.execPath, [...nodeProgram(program), kind], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const err = text(child.stderr);
  let out = "";
  for await (const chunk of child.stdout) {
    out += chunk;
    if (out.endsWith("\n")) child.kill("SIGTERM");
  }
  const [code] = await ended;
  return { code, out, err: await err };
}

describe("a service as a process", () => {
  it("prints its address, and ends after a signal", async () => {
    const { code, out } = await run("quick");
    expect(JSON.parse(out)).to.deep.equal({ listening: "http://127.0.0.1:1", folder: "x" });
    expect(code).to.equal(0);
  });

  it("ends when its stop takes too long", async () => {
    const { code, err } = await run("hangs");
    expect(code).to.equal(1);
    expect(err).to.contain("did not stop within 0.1 seconds");
  });

  it("prints every wrong setting, and the advice", async () => {
    const { code, out, err } = await run("refused");
    expect([code, out]).to.deep.equal([1, ""]);
    expect(err).to.equal("error: A: is required\nerror: B: must be a port\nhint: Set both.\n");
  });
});
