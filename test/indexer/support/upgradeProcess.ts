import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";

/** Starts `tallystick upgrade --json` as a separate process, and stores its reports. */
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
    /** Waits for the report of a step's end. If `isDone` is false, it waits for the step's first report. */
    until: async (step: string, isDone = true) => {
      const look = async () => told.find((it) => it.step === step && (!isDone || it.done !== false));
      const parameters = { what: `the report of ${step}`, withinMs: 180_000, everyMs: 20 };
      const found = await Promise.race([waitUntil(look, parameters).catch(() => undefined), exit.then(look)]);
      if (found === undefined)
        throw new Error(`the upgrade did not tell ${step}; last ${JSON.stringify(told.at(-1))}: ${said}`);
      return found;
    },
  };
}
