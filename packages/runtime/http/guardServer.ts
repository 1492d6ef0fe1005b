import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type OnFault, onBehalfOf } from "./requestScope.ts";

/** The events of a server that strangers can cause, and how to find the connection of each. */
const CONNECTION_OF: { [event: string]: (given: unknown[]) => Duplex } = {
  connection: ([socket]) => socket as Duplex,
  request: ([request]) => (request as IncomingMessage).socket,
  checkContinue: ([request]) => (request as IncomingMessage).socket,
  checkExpectation: ([request]) => (request as IncomingMessage).socket,
  upgrade: ([, socket]) => socket as Duplex,
  connect: ([, socket]) => socket as Duplex,
  clientError: ([, socket]) => socket as Duplex,
};

/**
 * Keeps the listeners of a server from ending the process. If a listener throws, the connection gets a 400. If a
 * promise fails later, `surviveRequests` knows the request to which it belongs. If an upgraded connection breaks, the
 * process continues, even if no other listener handles the error.
 */
export function guardServer(server: Server, onFault: OnFault): void {
  const emit = server.emit.bind(server) as (event: string, ...given: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    const connectionOf = typeof event === "string" ? CONNECTION_OF[event] : undefined;
    if (connectionOf === undefined) return emit(event as string, ...given);
    const socket = connectionOf(given);
    // Node removes its own error listener from a connection that is upgraded.
    if (event === "upgrade" || event === "connect") socket.on("error", () => socket.destroy());
    try {
      return onBehalfOf(socket, () => emit(event as string, ...given));
    } catch (error) {
      onFault(error);
      refuseConnection(socket);
      return true;
    }
  };
}

/** Answers 400 and closes the connection. If an answer has already begun, the 400 is useless but harmless. */
export function refuseConnection(socket: Duplex): void {
  if (socket.writable)
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  closeAfterWriting(socket);
}

/**
 * Ends a connection when everything written has gone out, and after {@link LINGER_MS} at the latest. The client
 * cannot delay this.
 */
export function closeAfterWriting(socket: Duplex): void {
  const destroy = (): void => {
    socket.destroy();
  };
  if (socket.writableFinished) {
    destroy();
    return;
  }
  socket.once("finish", destroy);
  const timer = setTimeout(destroy, LINGER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}

/** How long a last answer may take to go out, in milliseconds. */
const LINGER_MS = 2_000;
