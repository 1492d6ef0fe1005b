import { connect, type Socket } from "node:net";
import { getPriority, setPriority } from "node:os";
import { createInterface } from "node:readline";
import type { FloodKind } from "./kinds.ts";

// One flooding client as a process of its own. argv: port, the address that it connects from, the address that
// it forwards ("" for none), the kind as JSON. It begins when it gets a line on its input. Each line is a limit:
// how many requests it may begin in a second, or how many connections if it sends no requests. 0 means no limit.
// It prints the results of its requests five times a second.

const [port = "", localAddress = "", forwardedFor = "", text = "{}"] = process.argv.slice(2);
const kind = JSON.parse(text) as FloodKind;

// A real attacker has its own machine, so this process must not take time from the server.
setPriority(Math.min(19, getPriority() + 10));

const counts = { answered: 0, refused: 0, closed: 0 };
let perSecond = 0;
let due = 0;
const message = messageOf(kind);
/** A placeholder for a number that differs in every request, so that no answer comes from a cache. */
const PLACE = "00000000";
let requests = 0;
const filler = Buffer.alloc(64 * 1024, " ");

function messageOf({ request, bodyBytes }: FloodKind): string | undefined {
  if (request === undefined || request.method === "") return undefined;
  const { method, path, headers = {}, body = "" } = request;
  const lines = Object.entries({
    host: "node",
    ...headers,
    ...(forwardedFor !== "" && { "x-forwarded-for": forwardedFor }),
    ...(method === "POST" && { "content-length": String(bodyBytes ?? Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** Calls `run` at the permitted rate: now, or when the next request or connection is due. */
function paced(run: () => void): void {
  const now = performance.now();
  due = perSecond === 0 ? now : Math.max(due + 1_000 / perSecond, now - 100);
  if (due > now + 1) setTimeout(run, due - now);
  else run();
}

/** Opens a connection, sends requests until it closes, and starts again. */
function flood(): void {
  const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress, noDelay: true });
  let pending = "";
  socket.on("connect", () => {
    if (message !== undefined) paced(() => ask(socket));
    else if (kind.request?.hangsUp) socket.resetAndDestroy();
  });
  socket.on("data", (chunk) => {
    pending += chunk.toString("latin1");
    const status = /^HTTP\/1\.1 (\d{3})/.exec(pending)?.[1];
    if (status === undefined) return;
    if (kind.request?.hangsUp) {
      count(status);
      socket.resetAndDestroy();
    } else if (isWhole(pending)) {
      count(status);
      pending = "";
      if (kind.pipelined === undefined) paced(() => ask(socket));
    }
  });
  socket.on("error", () => {});
  socket.once("close", () => {
    counts.closed++;
    setImmediate(message === undefined ? () => paced(flood) : flood);
  });
}

function ask(socket: Socket): void {
  const number = String(requests++ % 1e8).padStart(PLACE.length, "0");
  socket.write((message ?? "").replace(PLACE, number).repeat(kind.pipelined ?? 1), "latin1");
  if (kind.bodyBytes !== undefined) fill(socket);
}

function fill(socket: Socket): void {
  while (socket.writable && socket.write(filler));
  if (socket.writable) socket.once("drain", () => fill(socket));
}

function count(status: string): void {
  if (status === "429") counts.refused++;
  else counts.answered++;
}

function isWhole(answer: string): boolean {
  const head = answer.indexOf("\r\n\r\n");
  if (head < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, head + 2))?.[1];
  return length === undefined ? answer.endsWith("0\r\n\r\n") : answer.length >= head + 4 + Number(length);
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  perSecond = Number(line);
});
lines.once("line", () => {
  for (let n = 0; n < kind.connections; n++) flood();
  setInterval(() => {
    process.stdout.write(`${JSON.stringify(counts)}\n`);
  }, 200);
});
process.stdin.once("end", () => process.exit());
process.stdout.write("ready\n");
