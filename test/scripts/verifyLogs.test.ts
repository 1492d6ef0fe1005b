import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { Command } from "commander";
import { entryLine } from "tallystick-protocol/ledger/entry";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import {
  formatSignedNote,
  formatVerifierKey,
  noteVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { formatTlogProof } from "tallystick-protocol/proof/tlogProof";
import { registerVerifyLedger } from "../../scripts/commands/verifyLedger.ts";
import { registerVerifyProof } from "../../scripts/commands/verifyProof.ts";
import { DiskLedger } from "../../services/settlement/ledger/diskLedger.ts";
import { StaticLog } from "../../services/settlement/staticLog/staticLog.ts";
import { temporaryFolder } from "../settlement/support/temporaryFolder.ts";

const ORIGIN = "tallystick.test/logs";
const keyOf = (byte: number) =>
  formatVerifierKey(noteVerifierKey(ORIGIN, ed25519.getPublicKey(new Uint8Array(32).fill(byte))));

describe("the commands that verify a log in C2SP's form", () => {
  const folder = temporaryFolder();
  const at = (name: string) => path.join(folder.path, name);

  beforeEach(async () => {
    const ledger = await DiskLedger.open({ folder: at("ledger") });
    for (let n = 0; n < 3; n++)
      await ledger.append({ timestamp: 1_767_225_600 + n, taskId: `task-${n}`, payload: {} }).durable;
    const text = formatCheckpoint({ origin: ORIGIN, size: 3, root: ledger.tree.root() });
    const signatures = [signNote(text, ORIGIN, new Uint8Array(32).fill(1))];
    const note = formatSignedNote({ text, signatures });
    await new StaticLog({ folder: at("log"), origin: ORIGIN, ledger }).write({ size: 3, note });
    const extra = new TextEncoder().encode(entryLine(await ledger.entry(1)));
    const proof = { extra, index: 1, proof: ledger.tree.inclusionProof(1, 3), checkpoint: note };
    writeFileSync(at("entry.tlog-proof"), formatTlogProof(proof));
    await ledger.close();
  });

  /** What a command prints as JSON, and its exit code. */
  async function run(...args: string[]): Promise<{ code: number; said: { [field: string]: unknown } }> {
    const { code, text } = await print(...args, "--json");
    return { code, said: JSON.parse(text) };
  }

  async function print(...args: string[]): Promise<{ code: number; text: string }> {
    const program = new Command().exitOverride();
    registerVerifyLedger(program);
    registerVerifyProof(program);
    const { write } = process.stdout;
    const before = process.exitCode;
    let text = "";
    process.exitCode = 0;
    process.stdout.write = ((chunk: string) => {
      text += chunk;
      return true;
    }) as typeof write;
    try {
      await program.parseAsync(["node", "tallystick", ...args]);
      return { code: Number(process.exitCode), text };
    } finally {
      process.stdout.write = write;
      process.exitCode = before;
    }
  }

  async function refusal(...args: string[]): Promise<string> {
    return run(...args).then(
      () => expect.fail("it went through"),
      (error) => error.message,
    );
  }

  it("accept the log's folder, and report whether a given key signed the log", async () => {
    const good = { valid: true, entries: 3, origin: ORIGIN };
    const known = await run("verify-ledger", at("log"), "--key", keyOf(1));
    expect(known.code).to.equal(0);
    expect(known.said).to.include({ ...good, trusted: true });
    expect((await run("verify-ledger", at("log"))).said).to.include({ ...good, trusted: false });
    const other = await run("verify-ledger", at("log"), "--key", keyOf(2));
    expect(other.code).to.equal(1);
    expect(other.said).to.include({ valid: false });
  });

  it("check the log against a policy, and name an entry that differs", async () => {
    writeFileSync(at("policy"), `log ${keyOf(1)}\nquorum none\n`);
    const known = await run("verify-ledger", at("log"), "--policy", at("policy"));
    expect(known.said).to.include({ valid: true, trusted: true });
    const bundle = path.join(at("log"), "tile/entries/000.p/3");
    const bytes = readFileSync(bundle);
    bytes[30] = (bytes[30] as number) ^ 1;
    writeFileSync(bundle, bytes);
    const changed = await run("verify-ledger", at("log"), "--policy", at("policy"));
    expect(changed.code).to.equal(1);
    expect(changed.said).to.include({ valid: false, line: 1 });
  });

  it("need a policy, and nothing else, to accept a .tlog-proof", async () => {
    const file = at("entry.tlog-proof");
    expect(await refusal("verify-proof", file)).to.match(/--policy: must be given/);
    expect(await refusal("verify-proof", file, "--policy", at("none"))).to.match(/--policy: cannot be read/);
    writeFileSync(at("policy"), `log ${keyOf(1)}\nquorum none\n`);
    const good = await run("verify-proof", file, "--policy", at("policy"));
    expect(good.said).to.include({ valid: true, index: 1, task_id: "task-1", size: 3 });
    expect((await print("verify-proof", file, "--policy", at("policy"))).text).to.match(
      /^entry {4}[0-9a-f]{64}$/m,
    );
    writeFileSync(at("policy"), `log ${keyOf(2)}\nquorum none\n`);
    expect(await refusal("verify-proof", file, "--policy", at("policy"))).to.match(
      /No key that the policy has/,
    );
  });

  it("refuse keys and policies that the form of the file does not use, so that a stranger's file cannot evade them", async () => {
    writeFileSync(at("policy"), `log ${keyOf(1)}\nquorum none\n`);
    const policy = ["--policy", at("policy")];
    writeFileSync(at("entry.proof"), "{}");
    expect(await refusal("verify-proof", at("entry.proof"), ...policy)).to.match(
      /--policy: is not for a \.proof/,
    );
    const proof = ["verify-proof", at("entry.tlog-proof"), ...policy];
    for (const option of ["--key", "--ledger", "--writer", "--rpc-url"])
      expect(await refusal(...proof, option, "0x1")).to.contain(`${option}: is not for a .tlog-proof`);
    const file = path.join(at("ledger"), "ledger.jsonl");
    expect(await refusal("verify-ledger", file, ...policy)).to.contain("--policy: is not for a ledger file");
    expect(await refusal("verify-ledger", file, "--key", keyOf(1))).to.contain(
      "--key: is not for a ledger file",
    );
  });

  it("print a stranger's words so that they control no terminal and have no line of their own", async () => {
    const task = "t\u001b[2J\u009b2J\u202e\nanchored in block 1";
    const ledger = await DiskLedger.open({ folder: at("hostile") });
    await ledger.append({ timestamp: 1_767_225_600, taskId: task, payload: { type: "\u001b]0;x\u0007" } })
      .durable;
    const text = formatCheckpoint({ origin: ORIGIN, size: 1, root: ledger.tree.root() });
    const signatures = [signNote(text, ORIGIN, new Uint8Array(32).fill(1))];
    const extra = new TextEncoder().encode(entryLine(await ledger.entry(0)));
    const checkpoint = formatSignedNote({ text, signatures });
    const proof = { extra, index: 0, proof: ledger.tree.inclusionProof(0, 1), checkpoint };
    writeFileSync(at("hostile.tlog-proof"), formatTlogProof(proof));
    await ledger.close();
    writeFileSync(at("policy"), `log ${keyOf(1)}\nquorum none\n`);
    const args = ["verify-proof", at("hostile.tlog-proof"), "--policy", at("policy")];
    const { text: shown } = await print(...args);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
    const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
    expect(shown).not.to.match(CONTROLS);
    expect(shown).not.to.match(/^anchored/m);
    const json = await print(...args, "--json");
    expect(json.text).not.to.match(CONTROLS);
    expect(JSON.parse(json.text)).to.include({ task_id: task });
  });
});
