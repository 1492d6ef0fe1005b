import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { snapshotOf } from "tallystick-derive/snapshot";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { EventLog, TOKEN, wallet } from "./eventLog.ts";

/** Node runs the file directly if it supports TypeScript. */
const loader = process.features.typescript ? [] : ["--import", "tsx"];

async function run(args: string[], input = "") {
  const child = spawn(process.execPath, [...loader, "packages/derive/cli.ts", ...args], {
    cwd: repositoryRoot,
    env: { ...process.env, NODE_NO_WARNINGS: "1" },
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as number, out, err };
}

function story(): EventLog {
  const log = new EventLog();
  log.hire(wallet(1), wallet(2));
  log.after(60).tick();
  log.hire(wallet(1), wallet(2));
  return log.after(60).tick();
}

const linesOf = (log: EventLog): string[] => log.events.map((event) => JSON.stringify(event));
const SYNTHETIC = ["--trust-signatures", "--token", TOKEN];

describe("tallystick-derive", function () {
  this.slow(8_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-"));
  });
  after(() => rm(folder, { recursive: true }));

  it("prints a summary, the state as JSON, or the digest, from a file or from standard input", async () => {
    const { store, ...expected } = await story().derive();
    const file = path.join(folder, "log");
    const log = `${linesOf(story()).join("\n")}\n`;
    await writeFile(file, log);

    const json = await run([file, "--json", ...SYNTHETIC]);
    expect({ code: json.code, err: json.err }).to.deep.equal({ code: 0, err: "" });
    expect(JSON.parse(json.out)).to.deep.equal(JSON.parse(JSON.stringify(snapshotOf(store))));

    expect(await run(["-", "--digest", ...SYNTHETIC], log)).to.deep.equal({
      code: 0,
      out: `${expected.digest}\n`,
      err: "",
    });
    const { out } = await run([file, ...SYNTHETIC]);
    expect(out)
      .to.match(new RegExp(`^events {3}${story().events.length}$`, "m"))
      .and.match(new RegExp(`^agents {3}${Object.keys(expected.agents).length}$`, "m"))
      .and.contain(expected.digest);
  });

  it("verifies the signatures without --trust-signatures", async () => {
    const { out } = await run(["-", "--json", "--token", TOKEN], linesOf(story()).join("\n"));
    expect(Object.values(JSON.parse(out).agents)).to.deep.equal([]);
  });

  it("stops after --at-block, and notes on stderr the transfers of other tokens", async () => {
    const args = ["-", "--trust-signatures", "--token", wallet(9), "--at-block", "2"];
    const { code, out, err } = await run(args, linesOf(story()).join("\n"));
    expect(code).to.equal(0);
    expect(out).to.match(/^block {4}2$/m);
    expect(err).to.contain(`left out 1 transfers of ${TOKEN}`);
  });

  it("names a line that is wrong or too long, and prints no figures", async () => {
    const [first = ""] = linesOf(story());
    for (const [input, ...said] of [
      [`${first}\n{"block":1}\n`, "Line 2 is not an event", "kind", "code: invalid_event"],
      [`${first}\n\n${first}\n`, "Line 3 ", "code: params_not_first"],
      [`${first}\n${"x".repeat(5 << 20)}`, "Line 2 of - ", "code: line_too_long"],
      ["", "no events", "code: empty_log"],
    ] as const) {
      const { code, out, err } = await run(["-"], input);
      expect({ code, out }, said[0]).to.deep.equal({ code: 1, out: "" });
      for (const part of said) expect(err).to.contain(part);
    }
  });

  it("prints no sign of a log that controls a terminal", async () => {
    const params = JSON.stringify({ block: 0, time: 0, log: 0, kind: "params", params: { "\u001b[2J": 1 } });
    for (const input of [params, "\u009b2J\u001b[2J"]) {
      const { code, err } = await run(["-"], input);
      expect(code).to.equal(1);
      expect(err)
        .to.contain("\\u001b[2J")
        .and.match(/^[\n\x20-\x7e]*$/);
    }
  });

  it("prints no digest for a log without a tick", async () => {
    const log = new EventLog();
    log.hire(wallet(1), wallet(2));
    const input = linesOf(log).join("\n");
    const { code, out, err } = await run(["-", "--digest", ...SYNTHETIC], input);
    expect({ code, out }).to.deep.equal({ code: 1, out: "" });
    expect(err).to.contain("code: no_digest");
    expect((await run(["-", ...SYNTHETIC], input)).out).to.contain("none: the log has no tick");
  });

  it("ends with 1 when a file cannot be read, and with 2 when it is used wrongly", async () => {
    const missing = await run([path.join(folder, "missing")]);
    expect(missing).to.include({ code: 1, out: "" });
    expect(missing.err).to.contain("code: unreadable_file").and.not.contain("    at ");
    const wrong = [
      [[], "FILE"],
      [["a", "b"], "FILE"],
      [["-", "--json", "--digest"], "exclude"],
      [["-", "--at-block", "soon"], "--at-block"],
      [["-", "--token", "0x1"], "--token"],
      [["-", "--bogus"], "--bogus"],
    ] as const;
    await Promise.all(
      wrong.map(async ([args, said]) => {
        const { code, out, err } = await run([...args]);
        expect({ code, out }, args.join(" ")).to.deep.equal({ code: 2, out: "" });
        expect(err).to.contain(said).and.contain("usage:");
      }),
    );
    expect(await run(["--help"])).to.include({ code: 0, err: "" });
  });
});
