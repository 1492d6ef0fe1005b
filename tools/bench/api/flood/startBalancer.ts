import { spawn } from "node:child_process";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { freePort, isPortFree } from "../../../../scripts/processes/freePort.ts";
import { waitUntil } from "../../../../scripts/processes/waitUntil.ts";

/**
 * Starts nginx with the settings that `compose.yaml` gives it (`deploy/nginx.conf`), in front of one server on this
 * machine. The server must trust one proxy.
 *
 * @param upstream the port of the server
 * @throws TallystickError `balancer_failed`
 */
export async function startBalancer(upstream: number): Promise<{ port: number; stop: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "tallystick-nginx-"));
  // The workers of nginx run as another user if this process runs as root.
  await chmod(folder, 0o755);
  const port = await freePort();
  const site = (await readFile("deploy/nginx.conf", "utf8"))
    .replace("listen 8080;", `listen 127.0.0.1:${port};`)
    .replace("http://api:42069", `http://127.0.0.1:${upstream}`);
  await writeFile(join(folder, "nginx.conf"), settingsOf(folder, site));
  const nginx = spawn("nginx", ["-c", join(folder, "nginx.conf"), "-g", "daemon off;"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let told = "";
  nginx.stderr.on("data", (chunk: Buffer) => {
    told = `${told}${chunk}`.slice(-2_000);
  });
  const ended = new Promise<string>((resolve) => {
    nginx.once("error", ({ message }) => resolve(message));
    nginx.once("exit", () => resolve(told));
  });
  const stop = async () => {
    nginx.kill("SIGTERM");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const listening = waitUntil(async () => !(await isPortFree(port)), {
    what: "nginx to listen",
    withinMs: 5_000,
    everyMs: 50,
  });
  const problem = await Promise.race([ended, listening.catch(String)]);
  if (problem === true) return { port, stop };
  await stop();
  throw new TallystickError({
    code: "balancer_failed",
    message: `nginx does not start: ${String(problem).trim()}`,
    hint: "Install nginx, for example with `apt-get install nginx-light`. Or leave out --balancer.",
  });
}

/** The main settings: those of nginx's image, with folders of our own. */
function settingsOf(folder: string, site: string): string {
  const uses = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `worker_processes auto;
pid ${folder}/nginx.pid;
error_log stderr notice;
events { worker_connections 1024; }
http {
  access_log ${folder}/access.log;
  ${uses.map((use) => `${use}_temp_path ${folder}/${use};`).join("\n  ")}
${site}}
`;
}
