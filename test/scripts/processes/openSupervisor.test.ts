import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import type { ProcessExit, ProcessSpec } from "../../../scripts/processes/messages.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { openSupervisor, type Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { runToEnd } from "../../../scripts/processes/runToEnd.ts";
import { startService } from "../../../scripts/processes/startService.ts";
import { isAlive, untilGone } from "../fixtures/gone.ts";

type Said = { folder: string; pids: number[]; ports: number[] };

describe("scripts/processes/openSupervisor", () => {
  let folder: string;
  let supervisor: Supervisor;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-supervisor-"));
    supervisor = await openSupervisor();
  });

  afterEach(async () => {
    await supervisor.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const script = (name: string, code: string): ProcessSpec => ({
    name,
    command: process.execPath,
    args: ["-e", code],
    cwd: folder,
    env: childEnvironment(),
    logFile: path.join(folder, `${name}.log`),
  });

  it("writes a process's output to its log and reports how it ended", async () => {
    const exits: ProcessExit[] = [];
    supervisor.onExit((exit) => exits.push(exit));
    await runToEnd(supervisor, script("talker", 'console.log("out"); console.error("err")'));
    expect(readFileSync(path.join(folder, "talker.log"), "utf8")).to.equal("out\nerr\n");
    expect(exits.map(({ name, code, signal }) => ({ name, code, signal }))).to.deep.equal([
      { name: "talker", code: 0, signal: null },
    ]);
  });

  it("lets only its own account read a log, also one that others could read before", async function () {
    // Windows has no such permissions.
    if (process.platform === "win32") this.skip();
    const { logFile, ...spec } = script("secret", 'console.error("a key")');
    const earlier = path.join(folder, "earlier.log");
    writeFileSync(earlier, "", { mode: 0o644 });
    for (const file of [logFile, earlier]) {
      await runToEnd(supervisor, { ...spec, logFile: file });
      expect(statSync(file).mode & 0o777).to.equal(0o600);
    }
  });

  it("starts a new log file when the present one is long, and keeps four earlier parts, while the process goes on writing", async () => {
    const endless = script("endless", 'let n = 0; setInterval(() => console.log(n++, "x".repeat(2_000)), 1)');
    await supervisor.start({ ...endless, logLimit: { bytes: 20_000, everyMs: 20 } });
    const parts = ["", ".1", ".2", ".3", ".4", ".5"].map((end) => `${endless.logFile}${end}`);
    // A part is not there for a moment while the supervisor moves the parts on.
    const textOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");
    const numberIn = (file = "") => Number(/^(\d+) x/m.exec(textOf(file))?.[1] ?? -1);
    const end = performance.now() + 60_000;
    // Waits until the first part is gone, so more was written than is kept.
    while (!existsSync(parts[4] ?? "") || numberIn(parts[4]) <= 0) {
      if (performance.now() > end) throw new Error("the supervisor did not start four new log files");
      await sleep(20);
    }
    await supervisor.stop("endless");
    const areThere = () => parts.map((file) => existsSync(file));
    while (!areThere().slice(0, 5).every(Boolean)) await sleep(20);
    expect(areThere()).to.deep.equal([true, true, true, true, true, false]);
    expect(numberIn(parts[3])).to.be.above(numberIn(parts[4]));
  });

  it("leaves nothing of a process that was starting when the supervisor closed", async () => {
    const pidFile = path.join(folder, "pid");
    // The process may end before it has written its number.
    const pidsIn = () => [existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8")) : 0].filter(Boolean);
    const late = script(
      "late",
      `require("node:fs").writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setInterval(() => {}, 1000)`,
    );
    // The process gets a second before it has to end. Otherwise it would always end before it writes its file.
    const patient = { ...late, stop: [{ signal: "SIGWINCH" as const, waitMs: 1_000 }] };
    await Promise.allSettled([supervisor.start(patient), supervisor.close()]);
    await untilGone({ pids: pidsIn() });
    // The process is not there now, and it does not appear later.
    await sleep(500);
    await untilGone({ pids: pidsIn() });
  });

  it("closes also if its process is killed meanwhile, and leaves nothing", async () => {
    const pidsFile = path.join(folder, "pids");
    const stubborn = script(
      "stubborn",
      `process.on("SIGTERM", () => {}); setInterval(() => {}, 1000);
      require("node:fs").writeFileSync(${JSON.stringify(pidsFile)}, [process.ppid, process.pid].join(" "))`,
    );
    const isReady = async () => existsSync(pidsFile) && readFileSync(pidsFile, "utf8").includes(" ");
    await startService(supervisor, { ...stubborn, isReady, stop: [{ signal: "SIGTERM", waitMs: 60_000 }] });
    const [supervisorPid = 0, pid = 0] = readFileSync(pidsFile, "utf8").split(" ").map(Number);
    const closed = supervisor.close();
    process.kill(supervisorPid, "SIGKILL");
    await closed;
    await untilGone({ pids: [supervisorPid, pid] });
  });

  it("tells once that each process ended, also if the supervisor's own process is killed", async () => {
    const exits: ProcessExit[] = [];
    const ended = Promise.withResolvers<void>();
    supervisor.onExit((exit) => {
      exits.push(exit);
      if (exits.length === 2) ended.resolve();
    });
    const pidFile = path.join(folder, "ppid");
    const endless = "setInterval(() => {}, 1000)";
    const tells = `require("node:fs").writeFileSync(${JSON.stringify(pidFile)}, process.ppid + " "); ${endless}`;
    const isReady = async () => existsSync(pidFile) && readFileSync(pidFile, "utf8").endsWith(" ");
    const one = await startService(supervisor, { ...script("one", tells), isReady });
    const two = await supervisor.start(script("two", endless));
    process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
    // The supervisor does not keep this process running.
    const hold = setInterval(() => {}, 60_000);
    await ended.promise.finally(() => clearInterval(hold));
    expect(exits).to.deep.equal([
      { name: "one", pid: one, code: null, signal: "SIGKILL" },
      { name: "two", pid: two, code: null, signal: "SIGKILL" },
    ]);
    await untilGone({ pids: [one, two] });
    await supervisor.close();
    expect(exits.length).to.equal(2);
  });

  it("names a program that cannot be started", async () => {
    const missing = { ...script("ghost", ""), command: "/nonexistent/program" };
    const error = await supervisor.start(missing).catch((e: unknown) => e);
    expect(error).to.be.instanceOf(TallystickError);
    expect((error as TallystickError).code).to.equal("process_start_failed");
    expect((error as TallystickError).message).to.contain("ghost could not be started");
  });

  it("reports a service that ends while it starts, with the end of its log", async () => {
    const service = {
      ...script("broken", 'console.log("no database"); process.exit(7)'),
      isReady: async () => false,
    };
    const error = (await startService(supervisor, service).catch((e: unknown) => e)) as TallystickError;
    expect(error.code).to.equal("service_failed");
    expect(error.message).to.contain("broken ended with code 7 while starting").and.contain("no database");
    expect(error.hint).to.contain(path.join(folder, "broken.log"));
  });

  it("reports a service that does not answer in time", async () => {
    const mute = script("mute", 'console.log("thinking"); setInterval(() => {}, 1000)');
    const service = {
      ...mute,
      // The time is over when the process has written its line, however slow the machine is.
      isReady: async () => {
        while (!existsSync(mute.logFile) || !readFileSync(mute.logFile, "utf8").includes("thinking"))
          await sleep(20);
        return false;
      },
      readyWithinMs: 500,
    };
    const error = (await startService(supervisor, service).catch((e: unknown) => e)) as TallystickError;
    expect(error.code).to.equal("service_failed");
    expect(error.message).to.contain("gave up waiting for mute to answer").and.contain("thinking");
  });

  it("ends the last started process first and removes the registered folders", async () => {
    const exits: string[] = [];
    supervisor.onExit((exit) => exits.push(exit.name));
    const leftover = path.join(folder, "leftover");
    writeFileSync(leftover, "");
    await supervisor.removeAtEnd(leftover);
    const pids = [];
    for (const name of ["database", "reader"])
      pids.push(await supervisor.start(script(name, "setInterval(() => {}, 1000)")));
    await supervisor.close();
    expect(exits).to.deep.equal(["reader", "database"]);
    expect(existsSync(leftover)).to.equal(false);
    expect(pids.filter(isAlive)).to.deep.equal([]);
    await supervisor.close();
  });

  it("ends one process at its owner's request and can start another with the same name", async () => {
    const first = await supervisor.start(script("worker", "setInterval(() => {}, 1000)"));
    await supervisor.stop("worker");
    expect(isAlive(first)).to.equal(false);
    await supervisor.start(script("worker", "setInterval(() => {}, 1000)"));
    await supervisor.stop("nobody of that name");
  });
});

describe("everything that a supervisor started", () => {
  const owners: ChildProcess[] = [];

  afterEach(() => {
    for (const owner of owners.splice(0)) owner.kill("SIGKILL");
  });

  /** Starts the owner in its own process group, and waits until the owner prints what it started. */
  async function startOwner(...args: string[]): Promise<{ owner: ChildProcess; said: Said }> {
    const owner = spawn(process.execPath, nodeProgram("test/scripts/fixtures/owner.ts", args), {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
      env: childEnvironment(),
    });
    owners.push(owner);
    let text = "";
    owner.stdout?.setEncoding("utf8");
    for await (const chunk of owner.stdout ?? []) {
      text += chunk;
      if (text.includes("\n")) break;
    }
    return { owner, said: JSON.parse(text) as Said };
  }

  const left = ({ folder, pids, ports }: Said) => ({ pids, ports, files: [folder] });

  it("is gone after SIGKILL of its owner: processes, their children, ports and files", async () => {
    const { owner, said } = await startOwner();
    expect(said.pids.filter(isAlive)).to.deep.equal(said.pids);
    owner.kill("SIGKILL");
    await untilGone(left(said));
  });

  it("is gone after SIGKILL of its owner's whole process group", async () => {
    const { owner, said } = await startOwner();
    process.kill(-(owner.pid as number), "SIGKILL");
    await untilGone(left(said));
  });

  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    it(`is gone after its owner, which has no handler, ends by ${signal}`, async () => {
      const { owner, said } = await startOwner();
      owner.kill(signal);
      await untilGone(left(said));
    });
  }

  it("is gone after its owner calls process.exit or throws", async () => {
    for (const way of ["--exit", "--throw"]) {
      const { owner, said } = await startOwner(way);
      if (owner.exitCode === null && owner.signalCode === null) await once(owner, "exit");
      await untilGone(left(said));
    }
  });

  it("is gone, with Postgres and its folder, after SIGKILL of its owner", async () => {
    const { owner, said } = await startOwner("--postgres");
    expect(said.pids).to.have.length(3);
    owner.kill("SIGKILL");
    await untilGone(left(said));
  });
});
