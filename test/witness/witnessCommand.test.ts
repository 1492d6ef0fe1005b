import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { programEndingWithParent } from "../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { temporaryFolder } from "../settlement/support/temporaryFolder.ts";
import { LOG_NAME, testLog } from "./support/testLog.ts";

describe("tallystick witness", () => {
  const folder = temporaryFolder();

  function start(more: { [name: string]: string } = {}) {
    const { args, env, stdio } = programEndingWithParent("scripts/cli.ts");
    return spawn(process.execPath, [...args, "witness"], {
      cwd: folder.path,
      env: {
        PATH: process.env.PATH,
        WITNESS_NAME: "witness.test/w1",
        WITNESS_LOGS: path.join(repositoryRoot, "test/witness/logs.policy"),
        WITNESS_DIR: path.join(folder.path, "witness"),
        WITNESS_PORT: "0",
        ...more,
        ...env,
      },
      stdio,
    });
  }

  async function listening(child: ReturnType<typeof start>) {
    for await (const line of createInterface({ input: child.stdout! })) return JSON.parse(line);
  }

  it("cosigns over HTTP, survives hostile requests, and keeps its key and its memory", async () => {
    const first = start();
    const { listening: url, key, logs } = await listening(first);
    expect(logs).to.deep.equal([LOG_NAME]);
    const add = (at: string, body: string) => fetch(`${at}/add-checkpoint`, { method: "POST", body });
    expect((await add(url, testLog().request(0, 3))).status).to.equal(200);
    for (const bytes of [
      "GET // HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
      "POST /add-checkpoint HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\nold",
      "\x00\xff\r\n\r\n",
      "CONNECT x:1 HTTP/1.1\r\n\r\n",
    ]) {
      const socket = connect(Number(new URL(url).port), "127.0.0.1");
      socket.on("error", () => {});
      socket.end(bytes, "latin1");
      socket.resume();
      await once(socket, "close");
    }
    expect((await add(url, testLog().request(3, 5))).status).to.equal(200);
    const ended = once(first, "exit");
    first.kill("SIGTERM");
    await ended;

    const second = start();
    const again = await listening(second);
    expect(again.key).to.equal(key);
    const answer = await add(again.listening, testLog().request(3, 5));
    expect([answer.status, await answer.text()]).to.deep.equal([409, "5\n"]);
    const gone = once(second, "exit");
    second.kill("SIGTERM");
    await gone;
  });

  it("names the setting at fault, and gives advice", async () => {
    const child = start({ WITNESS_LOGS: path.join(folder.path, "none") });
    const [said, [code]] = await Promise.all([text(child.stderr!), once(child, "exit")]);
    expect(code).to.equal(1);
    expect(said)
      .to.match(/WITNESS_LOGS: cannot be read/)
      .and.match(/hint: Give a file in C2SP's policy form/);
  });
});
