import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { keptNodes } from "../../scripts/demo/runFolder.ts";
import { programEndingWithParent } from "../../scripts/processes/nodeProgram.ts";

/** The time limit of a demo until it has played its story, and the time between two looks, in milliseconds. */
const [STORY_MS, LOOK_MS] = [600_000, 500];

/**
 * Starts a demo in a process of its own, and waits until it has played its story. It ends together with this process.
 *
 * @throws TallystickError `demo_failed`; its own output has said why
 */
export async function openDemo(): Promise<{ url: string; close: () => Promise<void> }> {
  const { args, env, stdio } = programEndingWithParent("scripts/cli.ts");
  const child = spawn(process.execPath, [...args, "demo", "--keep"], {
    stdio,
    env: { ...process.env, ...env },
  });
  child.stdout?.resume();
  child.stderr?.pipe(process.stderr, { end: false });
  const close = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGINT");
    await ended;
  };
  const deadline = performance.now() + STORY_MS;
  while (child.exitCode === null && child.signalCode === null && performance.now() < deadline) {
    const node = (await keptNodes()).find(({ pid }) => pid === child.pid);
    if (node !== undefined) return { url: node.url, close };
    await sleep(LOOK_MS);
  }
  await close();
  throw new TallystickError({
    code: "demo_failed",
    message: "The demo did not come to the end of its story.",
    hint: "Its own output says why. Run it alone with `npm run demo`.",
  });
}
