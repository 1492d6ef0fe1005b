import type { IncomingMessage, Server, ServerResponse } from "node:http";

/** The time limit for sending the head of a request, and the whole request, in milliseconds. */
const REQUEST_MS = 30_000;

/** The longest pause of a connection during an answer, in milliseconds. Streams send heartbeats more often. */
export const STILL_MS = 60_000;

/**
 * The interval of the check for slow clients, in milliseconds. Node's default of half a minute would double the
 * time limit.
 */
const LOOK_MS = 1_000;

/** An answer with at most this many unsent bytes has no time limit for its client's reading. */
const SMALL_BYTES = 64 * 1024;

/**
 * When an answer is complete, its client has this time to read the rest, in milliseconds. It has one second more for
 * each {@link READ_BYTES_PER_SECOND} bytes. Without this limit, a client that reads one byte each minute would keep
 * megabytes in memory for years.
 */
const READ_MS = 60_000;
const READ_BYTES_PER_SECOND = 16 * 1024;

/**
 * Disconnects clients that send a request or receive an answer too slowly. Call it before the server listens.
 */
export function limitTime(
  server: Server,
  requestMs = REQUEST_MS,
  { readMs = READ_MS, bytesPerSecond = READ_BYTES_PER_SECOND } = {},
): void {
  server.headersTimeout = requestMs;
  server.requestTimeout = requestMs;
  server.timeout = STILL_MS;
  // Node reads this value when the server starts to listen.
  (server as { connectionsCheckingInterval?: number }).connectionsCheckingInterval = Math.min(
    LOOK_MS,
    requestMs,
  );
  // This listener must run before the server's own listener, which may answer at once.
  server.prependListener("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    response.once("prefinish", () => {
      const bytes = response.writableLength;
      if (bytes <= SMALL_BYTES) return;
      const timer = setTimeout(() => socket.destroy(), readMs + (bytes / bytesPerSecond) * 1_000);
      response.once("close", () => clearTimeout(timer));
    });
  });
}
