import { Socket } from "node:net";

/**
 * Ends this process when the one that started it is gone, however it went. The bootstrap leaves us the end of a pipe
 * (its descriptor is in TALLYSTICK_LIFELINE); the pipe closes even when the bootstrap is killed by SIGKILL, and we
 * then take the same way out as for SIGTERM.
 */
export function watchLifeline(): void {
  const descriptor = Number(process.env.TALLYSTICK_LIFELINE);
  delete process.env.TALLYSTICK_LIFELINE;
  if (!Number.isInteger(descriptor) || descriptor < 3) return;
  const line = new Socket({ fd: descriptor, readable: true, writable: false });
  line.on("error", () => {});
  line.on("close", () => process.kill(process.pid, "SIGTERM"));
  line.resume();
  line.unref();
}
