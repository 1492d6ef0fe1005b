import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { converse, statusesOf } from "../../support/rawConnection.ts";

/** Starts a server in a process. The path of a request chooses how its listeners fail. */
async function startFaultyServer() {
  const child: ChildProcess = spawn(process.execPath, nodeProgram("test/runtime/http/faultyServer.ts"), {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout! });
  reader.on("line", (line) => lines.push(line));
  await once(reader, "line");
  const port = Number(/\d+/.exec(lines[0] ?? "")?.[0]);
  const ask = (path: string, upgrade = "") =>
    converse(port, {
      parts: [
        `GET ${path} HTTP/1.1\r\nHost: a\r\n${upgrade}Connection: ${upgrade ? "Upgrade" : "close"}\r\n\r\n`,
      ],
      listenMs: 60_000,
    });
  return { child, lines, ask };
}

describe("a server whose listeners fail", () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  });
  const start = async () => {
    const server = await startFaultyServer();
    children.push(server.child);
    return server;
  };

  it("closes the connection that caused the fault, reports the fault, and serves other connections", async () => {
    const { child, lines, ask } = await start();
    const upgrade = "Upgrade: websocket\r\n";
    expect(statusesOf(await ask("/at-once"))).to.deep.equal([400]);
    expect(statusesOf(await ask("/upgrade/throws", upgrade))).to.deep.equal([400]);
    const quiet = ["/in-a-timer", "/in-a-promise", "/upgrade/breaks", "/upgrade/breaks-later"];
    for (const path of [...quiet, "/while-it-answers"]) {
      const answer = await ask(path, path.startsWith("/upgrade") ? upgrade : "");
      expect(answer.closed, path).to.equal(true);
    }
    expect((await ask("/")).text).to.contain("served");
    expect(lines.slice(1)).to.deep.equal([
      "fault: it fails /at-once",
      "fault: it fails /upgrade/throws",
      "fault: it fails /in-a-timer",
      "fault: it fails /in-a-promise",
      "fault: it fails /while-it-answers",
    ]);
    expect(child.exitCode).to.equal(null);
  });

  it("ends when the fault is in the process's own work, even if a request started this work", async () => {
    const { child, ask } = await start();
    const words = text(child.stderr!);
    const exit = once(child, "exit");
    await ask("/of-its-own");
    expect((await exit)[0]).to.equal(1);
    expect(await words).to.contain("it fails /of-its-own");
  });
});
