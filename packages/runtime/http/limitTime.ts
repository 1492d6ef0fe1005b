import type { Server } from "node:http";

/** How long a client may take to send the head of a request, and all of it, in milliseconds. */
const REQUEST_MS = 30_000;

/** How long a connection may stand still while an answer goes out; streams beat more often. */
const STILL_MS = 60_000;

/** Between two looks for clients that are too slow: Node's own half a minute would double their time. */
const LOOK_MS = 1_000;

/** Cuts off clients that send a request, or take an answer, too slowly. To be called before the server listens. */
export function limitTime(server: Server, requestMs = REQUEST_MS): void {
  server.headersTimeout = requestMs;
  server.requestTimeout = requestMs;
  server.timeout = STILL_MS;
  // Read when the server begins to listen.
  (server as { connectionsCheckingInterval?: number }).connectionsCheckingInterval = Math.min(
    LOOK_MS,
    requestMs,
  );
}
