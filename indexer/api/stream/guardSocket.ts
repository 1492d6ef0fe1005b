import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

/**
 * The most bytes that a client may send between two heartbeats. It has to send one pong, of a few bytes. Every
 * frame takes work, and no budget pays for it.
 */
const MAX_READ_BYTES = 16 * 1024;

/**
 * Answers the pings of a client. Ends its connection when the connection fails, or when the client sends too much in
 * frames of any kind. The server must have `autoPong: false`. Otherwise `ws` would buffer a pong for every ping of a
 * client that reads nothing.
 *
 * @param parameters.maxBuffered with more bytes in the buffer, pings get no answer
 * @param parameters.everyMs the time between two heartbeats
 */
export function guardSocket(
  socket: WebSocket,
  connection: Duplex,
  { maxBuffered, everyMs }: { maxBuffered: number; everyMs: number },
): void {
  socket.on("error", () => socket.terminate());
  socket.on("ping", (data) => {
    if (socket.bufferedAmount <= maxBuffered) socket.pong(data);
  });
  let [bytes, since] = [0, performance.now()];
  connection.on("data", (chunk: Buffer) => {
    const now = performance.now();
    if (now - since > everyMs) [bytes, since] = [0, now];
    bytes += chunk.length;
    if (bytes > MAX_READ_BYTES) socket.terminate();
  });
}
