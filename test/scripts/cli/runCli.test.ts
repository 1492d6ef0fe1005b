import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { commands } from "../../../scripts/cli/commands.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

type Run = { code: number; out: string; err: string };

/** Runs the program as a user does, through the bootstrap. */
function tallystick(...args: string[]): Promise<Run> {
  return run([path.join(repositoryRoot, "scripts/bootstrap.mjs"), ...args]);
}

/** Runs the program as the bootstrap does, when nothing is left to install. */
function afterBootstrap(...args: string[]): Promise<Run> {
  return run(nodeProgram("scripts/cli.ts", args));
}

async function run(args: string[]): Promise<Run> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code: code as number, out, err };
}

// Each test starts the program several times, which takes its time on a busy machine.
describe("scripts/cli", function () {
  this.timeout(120_000);

  it("lists every public command with its summary", async () => {
    const { code, out, err } = await tallystick("--help");
    expect({ code, err }).to.deep.equal({ code: 0, err: "" });
    for (const { name, summary, hidden } of commands) {
      if (hidden) expect(out).to.not.contain(summary);
      else expect(out.replaceAll(/\s+/g, " ")).to.contain(`${name} `).and.contain(summary);
    }
  });

  it("shows the same without arguments", async () => {
    expect(await tallystick()).to.deep.equal(await tallystick("--help"));
  });

  for (const { name } of commands) {
    it(`explains ${name} and its options`, async () => {
      const { code, out } = await afterBootstrap(name, "--help");
      expect(code).to.equal(0);
      expect(out).to.match(new RegExp(`^Usage: tallystick ${name}\\b`));
    });
  }

  it("explains a command by help as by --help", async () => {
    expect(await tallystick("help", "derive")).to.deep.equal(await tallystick("derive", "--help"));
  });

  it("answers an unknown command or option with exit code 2, on stderr, and says what to do", async () => {
    const command = await tallystick("verify-legder");
    expect(command).to.include({ code: 2, out: "" });
    expect(command.err).to.contain("unknown command 'verify-legder'").and.contain("--help");
    const option = await tallystick("test", "--nope");
    expect(option).to.include({ code: 2, out: "" });
    expect(option.err).to.contain("unknown option '--nope'").and.contain("Usage: tallystick test");
  });
});
