import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type OnFault, onBehalfOf } from "./requestScope.ts";

/** The events of a server that strangers bring about, and where each has its connection. */
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
 * Makes a server's listeners unable to end the process: what one throws is answered 400 on that connection, what it leaves
 * behind is known as a request's (see `surviveRequests`), and a connection that was taken over may break without anybody
 * listening.
 */
export function guardServer(server: Server, onFault: OnFault): void {
  const emit = server.emit.bind(server) as (event: string, ...given: unknown[]) => boolean;
  server.emit = (event: string | symbol, ...given: unknown[]): boolean => {
    const connectionOf = typeof event === "string" ? CONNECTION_OF[event] : undefined;
    if (connectionOf === undefined) return emit(event as string, ...given);
    const socket = connectionOf(given);
    // Node takes its own listener off a connection that it hands over.
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

/** Answers 400 and lets go. Behind an answer that has begun it does not help, and does no harm. */
export function refuseConnection(socket: Duplex): void {
  if (socket.writable)
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  letGo(socket);
}

/** Ends a connection once what was written has gone out, whatever the other side does or does not do. */
export function letGo(socket: Duplex): void {
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
