import { Agent, request } from "node:http";
import type { Query } from "./queries.ts";

export type Latencies = {
  p50: number;
  p99: number;
  requests: number;
  perSecond: number;
  /** The reasons of the failed requests. */
  failures: string[];
};

/**
 * Sends requests at a steady rate, whether or not earlier ones were answered. The time of a request counts from
 * the moment at which it was due.
 */
export async function offerRate(
  port: number,
  query: Query,
  { perSecond, seconds }: { perSecond: number; seconds: number },
) {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const times: number[] = [];
  const failures: string[] = [];
  const began = performance.now();
  const total = perSecond * seconds;
  const running: Promise<void>[] = [];
  for (let n = 0; n < total; n++) {
    const due = began + (n * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    running.push(
      ask(port, agent, query.next()).then(
        () => void times.push(performance.now() - due),
        (error) => void failures.push(String(error)),
      ),
    );
  }
  await Promise.all(running);
  agent.destroy();
  return summary(times, failures, performance.now() - began);
}

/** Keeps this many connections busy: each sends its next request as soon as it gets an answer. */
export async function hammer(
  port: number,
  query: Query,
  { connections, seconds }: { connections: number; seconds: number },
) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const failures: string[] = [];
  const began = performance.now();
  const end = began + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) {
        const from = performance.now();
        try {
          await ask(port, agent, query.next());
          times.push(performance.now() - from);
        } catch (error) {
          failures.push(String(error));
        }
      }
    }),
  );
  agent.destroy();
  return summary(times, failures, performance.now() - began);
}

/** The median time of `runs` calls of `work`, one after another, in milliseconds. */
export async function medianOf(runs: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < runs; n++) {
    const from = performance.now();
    await work();
    times.push(performance.now() - from);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] ?? Number.NaN;
}

/**
 * Sends one request and reads its whole answer. Everything except a success with data is an error.
 *
 * @param client the client's address, and whether a proxy that the server trusts gives it
 */
export function ask(
  port: number,
  agent: Agent,
  { path, body }: { path: string; body?: unknown },
  client?: { address: string; isProxied: boolean },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const options = {
      host: "127.0.0.1",
      port,
      path,
      agent,
      ...(client?.isProxied === false && { localAddress: client.address }),
      method: text === undefined ? "GET" : "POST",
      headers: {
        ...(text !== undefined && {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(text),
        }),
        ...(client?.isProxied && { "x-forwarded-for": client.address }),
      },
    };
    const sent = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const answer = Buffer.concat(chunks).toString();
        if (response.statusCode === 200 && !answer.startsWith('{"errors"')) resolve(answer);
        else reject(new Error(`${response.statusCode} ${answer.slice(0, 300)}`));
      });
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

function summary(times: number[], failures: string[], elapsedMs: number): Latencies {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (percent: number) => sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN;
  return {
    p50: at(50),
    p99: at(99),
    requests: sorted.length,
    perSecond: (sorted.length * 1000) / elapsedMs,
    failures,
  };
}
