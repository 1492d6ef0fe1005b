import type { Server } from "node:http";
import { closeAfterWriting } from "tallystick-runtime/http/guardServer";
import type { Stream } from "./createStream.ts";

/** Serves the stream on a server that has other handlers too. */
export function attachStream(server: Server, stream: Stream): void {
  server.on("upgrade", (request, socket, head) => {
    if (stream.upgrade(request, socket, head)) return;
    // If a server has a listener for upgrades, this listener gets all of them.
    if (server.listenerCount("upgrade") > 1) return;
    socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    closeAfterWriting(socket);
  });
}
