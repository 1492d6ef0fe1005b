import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";

/** `tallystick upgrade --json` as a separate process, with its reports. */
export function startUpgrade(args: string[]) {
  const child = spawn(process.execPath, nodeProgram("scripts/cli.ts", ["upgrade", "--json", ...args]), {
    env: childEnvironment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const told: { step: string; done?: boolean; [field: string]: unknown }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => told.push(JSON.parse(line)));
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const exit = once(child, "close").then(([code]) => code as number | null);
  return {
    child,
    exit,
    said: () => said,
    /** The report of a step: at its end, or the first one. */
    until: async (step: string, isDone = true) => {
      const look = async () => told.find((it) => it.step === step && (!isDone || it.done !== false));
      const parameters = { what: `the upgrade to tell ${step}`, withinMs: 180_000, everyMs: 20 };
      const found = await Promise.race([waitUntil(look, parameters).catch(() => undefined), exit.then(look)]);
      if (found === undefined)
        throw new Error(`the upgrade did not tell ${step}; last ${JSON.stringify(told.at(-1))}: ${said}`);
      return found;
    },
  };
}
