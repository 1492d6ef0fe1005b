import { type AddressInfo, createServer, type Socket } from "node:net";
import { getPriority, setPriority } from "node:os";
import type { FloodKind } from "./kinds.ts";

// The server of a control: it gets the same flood as the node, and does nothing for it. So other clients of the node
// notice only the work of the flooding process, which runs on the node's machine here. A real attacker has its own
// machine. argv: the kind as JSON. Prints its port.

const kind = JSON.parse(process.argv[2] ?? "{}") as FloodKind;
setPriority(Math.min(19, getPriority() + 10));

/** How long a large body waits before it is refused, as at the node. */
const HOLD_MS = 1_000;
const REFUSAL = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 1\r\ncontent-length: 0\r\n";

function refuse(socket: Socket): void {
  if (kind.bodyBytes !== undefined) {
    socket.pause();
    setTimeout(() => {
      socket.write(`${REFUSAL}connection: close\r\n\r\n`, () => socket.destroy());
    }, HOLD_MS);
  } else if (kind.pipelined !== undefined) {
    socket.write(`${REFUSAL}connection: close\r\n\r\n`, () => socket.destroy());
  } else socket.write(`${REFUSAL}\r\n`);
}

const server = createServer((socket) => {
  socket.on("error", () => {});
  socket.on("data", () => refuse(socket));
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
process.stdin.resume().once("end", () => process.exit());
