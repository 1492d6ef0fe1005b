import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { childEnvironment } from "../../../../scripts/processes/childEnvironment.ts";
import { repositoryRoot } from "../../../../scripts/repositoryRoot.ts";

/** A command that runs in a copy, and its output. */
export type Running = {
  /** The next line on stdout or stderr that has this pattern. Rejects if the command ends before. */
  nextLine: (stream: "stdout" | "stderr", pattern: RegExp) => Promise<string>;
  /** The exit code after the end of the command. */
  ended: Promise<number | null>;
  /** Sends the signal, and returns the exit code and the new output on stderr. */
  end: (signal: NodeJS.Signals) => Promise<{ code: number | null; words: string }>;
};

/**
 * A copy of the code of the API and the derivation, in which a test may change files. The copy is inside of the checkout,
 * so that it finds the installed npm packages. It has its own copies of our packages.
 */
export function copyRooms() {
  const parent = path.join(repositoryRoot, ".tallystick");
  mkdirSync(parent, { recursive: true });
  const root = mkdtempSync(path.join(parent, "dev-test-"));
  for (const room of ["packages", "services", "indexer", "scripts", "tools", "package.json", "tsconfig.json"])
    cpSync(path.join(repositoryRoot, room), path.join(root, room), { recursive: true });
  mkdirSync(path.join(root, "node_modules"));
  for (const name of readdirSync(path.join(root, "packages")))
    symlinkSync(path.join(root, "packages", name), path.join(root, "node_modules", `tallystick-${name}`));
  // The copy uses the compiled code of the checkout.
  const compiled = path.join(repositoryRoot, "node_modules/.cache");
  mkdirSync(compiled, { recursive: true });
  symlinkSync(compiled, path.join(root, "node_modules/.cache"));
  const running = new Set<ChildProcess>();

  return {
    root,
    /** Replaces a text in a file of the copy. */
    edit: (file: string, from: string, to: string) => {
      const place = path.join(root, file);
      const text = readFileSync(place, "utf8");
      if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
      writeFileSync(place, text.replace(from, to));
    },
    run: (args: string[], settings: Record<string, string> = {}): Running => {
      const child = spawn(
        process.execPath,
        ["--import", "./scripts/processes/readTypeScript.mjs", "scripts/cli.ts", ...args],
        {
          cwd: root,
          env: childEnvironment({ NO_COLOR: "1", ...settings }),
          stdio: ["ignore", "pipe", "pipe"],
        },
      );
      running.add(child);
      const ended = once(child, "close").then(([code]) => {
        running.delete(child);
        return code as number | null;
      });
      const said = { stdout: readLines(child.stdout), stderr: readLines(child.stderr) };
      return {
        ended,
        nextLine: async (stream, pattern) => {
          const passed: string[] = [];
          for (;;) {
            const { value, done } = await said[stream].next();
            if (done) throw new Error(`It ended without the line ${pattern}:\n${passed.join("\n")}`);
            if (pattern.test(value)) return value;
            passed.push(value);
          }
        },
        end: async (signal) => {
          child.kill(signal);
          const words: string[] = [];
          for await (const line of said.stderr) words.push(line);
          const code = await ended;
          return { code, words: words.join("\n") };
        },
      };
    },
    /** Ends the processes that a failed test left running, and removes the copy. */
    close: async () => {
      for (const child of running) {
        child.kill("SIGKILL");
        await once(child, "close");
      }
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function* readLines(input: NodeJS.ReadableStream): AsyncGenerator<string, undefined> {
  yield* createInterface({ input });
  return undefined;
}
