import { connect } from "node:net";
import { BENCH_KEY } from "./settlementServer.ts";

/** An answer of the service, parsed. */
// biome-ignore lint/suspicious/noExplicitAny: a benchmark looks into answers of every shape
export type Answer = { status: number; json: any };

/** A caller with one connection that stays open. */
export type Client = {
  send: (method: string, path: string, body?: string) => Promise<Answer>;
  close: () => void;
};

type Asking = { resolve: (answer: Answer) => void; reject: (error: Error) => void };

/**
 * Makes a client of the service on a port of this machine: one request at a time. It does as little as HTTP/1.1
 * allows, because it shares the cores with the service that it measures. Bodies are ASCII.
 */
export function createClient(port: number): Client {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  let asking: Asking | undefined;
  let received = "";
  let failure: Error | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    asking?.reject(failure);
    asking = undefined;
  };
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    received += chunk;
    const answer = readAnswer(received);
    if (answer === undefined) return;
    received = "";
    asking?.resolve(answer);
    asking = undefined;
  });
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the connection was closed")));
  return {
    close: () => socket.destroy(),
    send: (method, path, body) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure);
        asking = { resolve, reject };
        const content =
          body === undefined ? "" : `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
        socket.write(
          `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${BENCH_KEY}\r\n${content}\r\n${body ?? ""}`,
          "latin1",
        );
      }),
  };
}

/** Reads an answer from the text so far; undefined while it is not complete. */
function readAnswer(text: string): Answer | undefined {
  const at = text.indexOf("\r\n\r\n");
  if (at === -1) return undefined;
  const head = text.slice(0, at).toLowerCase();
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  let body = text.slice(at + 4);
  if (length === undefined) {
    if (!body.endsWith("0\r\n\r\n")) return undefined;
    body = withoutChunks(body);
  } else if (body.length < Number(length)) return undefined;
  return { status: Number(head.slice(9, 12)), json: JSON.parse(body) };
}

function withoutChunks(text: string): string {
  let body = "";
  for (let at = 0; ; ) {
    const end = text.indexOf("\r\n", at);
    const size = Number.parseInt(text.slice(at, end), 16);
    if (!(size > 0)) return body;
    body += text.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}
