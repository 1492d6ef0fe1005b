import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { Hono } from "hono";

/** The ways in which an answer does not end: nothing is sent, only its first half is sent, or one byte a second. */
export type Hang = "before headers" | "in the body" | "drip";
export const HANGS: readonly Hang[] = ["before headers", "in the body", "drip"];

/** The kind of request: for terms, with the payment, for a job, with a countersignature, or another request. */
export type Asked = "terms" | "payment" | "job" | "countersignature" | "other";

/** A real server in front of a seller, on a real socket. */
export type HangingServer = {
  url: string;
  /** Says whether and how a request hangs, and whether the seller gets this request. A test replaces it. */
  hang: (asked: Asked) => { how: Hang; isHeard: boolean } | undefined;
  app: Pick<Hono, "fetch"> | undefined;
  /** Resolves when a request hangs. */
  hanging: () => Promise<void>;
  close: () => Promise<void>;
};

export async function openHangingServer(): Promise<HangingServer> {
  const drips = new Set<ReturnType<typeof setInterval>>();
  let isHanging = Promise.withResolvers<void>();
  const opened: HangingServer = {
    url: "",
    hang: () => undefined,
    app: undefined,
    hanging: async () => {
      await isHanging.promise;
      isHanging = Promise.withResolvers<void>();
    },
    close: async () => {
      for (const drip of drips) clearInterval(drip);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const hang = opened.hang(askedIn(request));
    const init = { method: request.method ?? "GET", headers: request.headers as { [name: string]: string } };
    const heard =
      hang && !hang.isHeard
        ? undefined
        : await opened.app?.fetch(
            new Request(`${opened.url}${request.url}`, { ...init, ...(body.length > 0 && { body }) }),
          );
    const text = heard ? Buffer.from(await heard.arrayBuffer()) : Buffer.from('{"a":"long answer"}');
    if (!hang) {
      response.writeHead(heard?.status ?? 500, Object.fromEntries(heard?.headers ?? []));
      response.end(text);
      return;
    }
    isHanging.resolve();
    if (hang.how === "before headers") return;
    response.writeHead(heard?.status ?? 200, { "content-type": "application/json" });
    if (hang.how === "in the body") {
      response.write(text.subarray(0, text.length / 2));
      return;
    }
    let at = 0;
    const drip = setInterval(() => response.write(text.subarray(at, ++at)), 1_000);
    drips.add(drip);
    response.write(text.subarray(at, ++at));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return opened;
}

function askedIn({ method, url = "", headers }: IncomingMessage): Asked {
  if (url.endsWith("/countersignature")) return "countersignature";
  if (url.startsWith("/jobs/")) return "job";
  if (method !== "POST" || !url.endsWith("/hire")) return "other";
  return headers["payment-signature"] === undefined ? "terms" : "payment";
}
