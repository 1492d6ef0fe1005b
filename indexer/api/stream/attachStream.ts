import type { Server } from "node:http";
import { letGo } from "tallystick-runtime/http/guardServer";
import type { Stream } from "./createStream.ts";

/** Serves the stream on a server that others serve too. */
export function attachStream(server: Server, stream: Stream): void {
  server.on("upgrade", (request, socket, head) => {
    if (stream.upgrade(request, socket, head)) return;
    // With a listener for upgrades, a server leaves all of them to it.
    if (server.listenerCount("upgrade") > 1) return;
    socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    letGo(socket);
  });
}
