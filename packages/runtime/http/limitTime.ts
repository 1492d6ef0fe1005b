import type { Server } from "node:http";

/** The time limit for sending the head of a request, and the whole request, in milliseconds. */
const REQUEST_MS = 30_000;

/** The longest pause of a connection during an answer. Streams send heartbeats more often. */
const STILL_MS = 60_000;

/**
 * The interval of the check for slow clients. Node's default of half a minute would double the time limit.
 */
const LOOK_MS = 1_000;

/**
 * Disconnects clients that send a request or receive an answer too slowly. Call it before the server listens.
 */
export function limitTime(server: Server, requestMs = REQUEST_MS): void {
  server.headersTimeout = requestMs;
  server.requestTimeout = requestMs;
  server.timeout = STILL_MS;
  // Node reads this value when the server starts to listen.
  (server as { connectionsCheckingInterval?: number }).connectionsCheckingInterval = Math.min(
    LOOK_MS,
    requestMs,
  );
}
