import { subscribe } from "node:diagnostics_channel";
import { Server } from "node:http";

/**
 * Calls the listener with every HTTP server of this process before the server listens. Ponder creates its own server and does
 * not expose it, but Node announces servers on a diagnostics channel.
 */
export function onHttpServer(listener: (server: Server) => void): void {
  subscribe("tracing:net.server.listen:asyncStart", (message) => {
    const { server } = message as { server: unknown };
    if (server instanceof Server) listener(server);
  });
}
