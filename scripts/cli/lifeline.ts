import { Socket } from "node:net";

/**
 * Ends this process when its parent, the bootstrap, is gone. The bootstrap gives it one end of a pipe, whose
 * descriptor is in TALLYSTICK_LIFELINE. The pipe closes even if the bootstrap is killed by SIGKILL. Then this
 * process gets a SIGTERM.
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
