import { readFileSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import path from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import { formatVerifierKey } from "tallystick-protocol/note/signedNote";
import { registerLedger } from "../../../scripts/commands/ledger.ts";
import type { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { type Answer, key, logOf, ORIGIN, openLedger, serveAs } from "../../settlement/mirror/support.ts";
import { temporaryFolder } from "../../settlement/support/temporaryFolder.ts";

describe("the commands that keep and check copies of a ledger", () => {
  const temporary = temporaryFolder();
  const answer: { now: Answer } = { now: (_request, response) => response.end() };
  const vkey = formatVerifierKey(key);
  let source: string;
  let server: Server;
  let ledger: DiskLedger;

  before(async () => {
    ({ url: source, server } = await serveAs(answer));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(async () => {
    ledger = await openLedger(temporary.path, 300);
    answer.now = logOf(ledger);
  });
  afterEach(() => ledger.close());

  const copy = () => path.join(temporary.path, "copy");

  /** What a command prints, and its exit code. */
  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const program = new Command().exitOverride();
    registerLedger(program);
    const before = { out: process.stdout.write, err: process.stderr.write, code: process.exitCode };
    const said = { out: "", err: "" };
    const keep = (name: "out" | "err") =>
      ((text: string) => {
        said[name] += text;
        return true;
      }) as typeof process.stdout.write;
    process.exitCode = 0;
    process.stdout.write = keep("out");
    process.stderr.write = keep("err");
    try {
      await program.parseAsync(["ledger", ...args], { from: "user" });
      return { code: Number(process.exitCode), ...said };
    } finally {
      process.stdout.write = before.out;
      process.stderr.write = before.err;
      process.exitCode = before.code;
    }
  }

  const mirrored = () => run("mirror", source, "--key", vkey, "--dir", copy(), "--once");

  it("mirror a ledger once, and end with 1 if its source contradicts the copy", async () => {
    const good = await mirrored();
    expect(good.code, good.err).to.equal(0);
    expect(JSON.parse(good.out)).to.include({ agrees: true, size: 300, origin: ORIGIN });
    const forged = await openLedger(temporary.path, 300, "forged");
    answer.now = logOf(forged);
    const bad = await mirrored();
    expect(bad.code).to.equal(1);
    expect(JSON.parse(bad.out)).to.include({ agrees: false, size: 300, code: "ledger_forked" });
    await forged.close();
  });

  it("check a mirror and a service's folder: the exit code is 0, 1 with each fault, or 2 if a check is not possible", async () => {
    await mirrored();
    const good = await run("fsck", copy(), "--key", vkey);
    expect(good).to.include({ code: 0 });
    expect(good.out).to.match(/is whole\.\nlog {5}tallystick\.test\/mirrored\nentries 300\n/);
    expect((await run("fsck", copy())).out).to.contain("No key was given");
    expect(JSON.parse((await run("fsck", source, "--json")).out)).to.include({ whole: true, entries: 300 });
    const tile = path.join(copy(), "tile/entries/000");
    const bytes = readFileSync(tile);
    bytes[60]! ^= 1;
    writeFileSync(tile, bytes);
    const bad = await run("fsck", copy());
    expect(bad.code).to.equal(1);
    expect(bad.out).to.match(/has 1 fault\.[\s\S]*tile\/entries\/000, line 1: [\s\S]*→ .*--recheck/);
    const told = JSON.parse((await run("fsck", copy(), "--json")).out);
    expect(told).to.include({ whole: false, faultCount: 1 });
    expect(told.faults[0]).to.include({ file: "tile/entries/000", line: 1 });
    const folder = await run("fsck", ledger.folder);
    expect(folder.code).to.equal(1);
    expect(folder.out).to.contain("last-signed.json: it is missing");
    const refused = await run("fsck", ledger.folder, "--key", vkey).catch((error: Error) => error.message);
    expect(refused).to.contain("--key: is not for the folder of a service's ledger");
    const nothing = await run("fsck", path.join(temporary.path, "nothing"));
    expect([nothing.code, nothing.out]).to.deep.equal([2, ""]);
    expect(nothing.err).to.contain("unreadable_log");
  });
});
