import { subscribe } from "node:diagnostics_channel";
import { Server } from "node:http";

/**
 * Calls back with every HTTP server of this process before it listens. Ponder makes its server itself and hands it to nobody;
 * Node tells of it on a public channel.
 */
export function onHttpServer(listener: (server: Server) => void): void {
  subscribe("tracing:net.server.listen:asyncStart", (message) => {
    const { server } = message as { server: unknown };
    if (server instanceof Server) listener(server);
  });
}
