import { Agent, request } from "node:http";
import { BENCH_KEY } from "./settlementServer.ts";

/** An answer of the service, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: a benchmark looks into answers of every shape
export type Answer = { status: number; json: any };

/** A caller with one connection that stays open. */
export type Client = {
  send: (method: string, path: string, body?: string) => Promise<Answer>;
  close: () => void;
};

/** Makes a client of the service on a port of this machine. */
export function createClient(port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${BENCH_KEY}`, "content-type": "application/json" };
  return {
    close: () => agent.destroy(),
    send: (method, path, body) =>
      new Promise((resolve, reject) => {
        const sent = request({ host: "127.0.0.1", port, agent, method, path, headers }, (response) => {
          let text = "";
          response.setEncoding("latin1");
          response.on("data", (chunk) => {
            text += chunk;
          });
          response.on("end", () => resolve({ status: response.statusCode ?? 0, json: JSON.parse(text) }));
          response.on("error", reject);
        });
        sent.on("error", reject);
        sent.end(body);
      }),
  };
}
