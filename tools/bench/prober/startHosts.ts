import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:https";
import { createInterface } from "node:readline";
import { compiledOnce, programEndingWithParent } from "../../../scripts/processes/nodeProgram.ts";
import { testCertificate } from "./testCertificate.ts";

/** Starts the hosts in a process of their own. */
export async function startHosts() {
  const { args, env, stdio } = programEndingWithParent("tools/bench/prober/hostServer.ts");
  const child = spawn(process.execPath, args, {
    env: { ...env, PATH: process.env.PATH, ...compiledOnce },
    stdio,
  });
  if (child.stdout === null) throw new Error("the hosts have no output");
  child.stderr?.pipe(process.stderr);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { port } = JSON.parse(line) as { port: number };
  const counts = async () =>
    JSON.parse(await askHosts(port, "/counts")) as {
      asked: { [address: string]: number };
      mostAtOnce: number;
    };
  return { port, counts, kill: () => child.kill("SIGKILL") };
}

/** Asks the process of the hosts itself, at 127.0.0.1, and returns its answer. */
export async function askHosts(port: number, path: string): Promise<string> {
  const asked = request(`https://seller.example:${port}${path}`, {
    ca: testCertificate.cert,
    lookup: (_host, { all }, found) => {
      if (all) found(null, [{ address: "127.0.0.1", family: 4 }]);
      else found(null, "127.0.0.1", 4);
    },
  }).end();
  const [response] = await once(asked, "response");
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
