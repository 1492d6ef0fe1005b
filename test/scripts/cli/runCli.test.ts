import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { commands } from "../../../scripts/cli/commands.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { type CommandRun, commandHere } from "../../support/commandHere.ts";

/** Runs the program as a user does, through the bootstrap. */
function tallystick(...args: string[]): Promise<CommandRun> {
  return run([path.join(repositoryRoot, "scripts/bootstrap.mjs"), ...args]);
}

async function run(args: string[]): Promise<CommandRun> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as number, out, err };
}

// Some tests start the program as a process, which takes long on a busy machine.
describe("scripts/cli", () => {
  it("lists every public command with its summary", async () => {
    const { code, out, err } = await tallystick("--help");
    expect({ code, err }).to.deep.equal({ code: 0, err: "" });
    for (const { name, summary, hidden } of commands) {
      if (hidden) expect(out).to.not.contain(summary);
      else expect(out.replaceAll(/\s+/g, " ")).to.contain(`${name} `).and.contain(summary);
    }
  });

  it("shows the same list without arguments", async () => {
    expect(await tallystick()).to.deep.equal(await commandHere(["--help"]));
  });

  for (const { name } of commands) {
    it(`explains ${name} and its options`, async () => {
      const { code, out } = await commandHere([name, "--help"]);
      expect(code).to.equal(0);
      expect(out).to.match(new RegExp(`^Usage: tallystick ${name}\\b`));
    });
  }

  it("explains a command with help as with --help", async () => {
    expect(await tallystick("help", "derive")).to.deep.equal(await commandHere(["derive", "--help"]));
  });

  it("ends with exit code 2 after an unknown command or option, and gives advice on stderr", async () => {
    const command = await tallystick("verify-legder");
    expect(command).to.include({ code: 2, out: "" });
    expect(command.err).to.contain("unknown command 'verify-legder'").and.contain("--help");
    const option = await tallystick("test", "--nope");
    expect(option).to.include({ code: 2, out: "" });
    expect(option.err).to.contain("unknown option '--nope'").and.contain("Usage: tallystick test");
  });

  it("keeps the exit code of a failed check when its output is closed early", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "tallystick-cli-"));
    try {
      const endOf = async (name: string, content: string) => {
        const file = path.join(folder, name);
        writeFileSync(file, content);
        const child = spawn(process.execPath, nodeProgram("scripts/cli.ts", ["verify-ledger", file]));
        child.stdout.destroy();
        const [code] = await once(child, "exit");
        return code;
      };
      expect(await Promise.all([endOf("bad", "no entry\n"), endOf("empty", "")])).to.deep.equal([1, 0]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
