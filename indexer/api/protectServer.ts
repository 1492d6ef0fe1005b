import type { Server } from "node:http";
import { guardServer } from "tallystick-runtime/http/guardServer";
import { type ClientLimits, limitClients } from "tallystick-runtime/http/limitClients";
import { limitSockets } from "tallystick-runtime/http/limitSockets";
import { limitTime } from "tallystick-runtime/http/limitTime";
import type { OnFault } from "tallystick-runtime/http/requestScope";
import type { DatabaseWatch } from "../databaseWatch.ts";
import { answerProbes } from "./databaseAway.ts";
import { attachStream } from "./stream/attachStream.ts";
import type { Stream } from "./stream/createStream.ts";

/**
 * Adds all protection against hostile clients to a server. Call it after the server has its listener, and
 * before it listens.
 */
export function protectServer(
  server: Server,
  {
    limits,
    sockets,
    stream,
    onFault,
    watch,
  }: {
    limits: ClientLimits;
    /** Connections of one address; 0 for no limit. */
    sockets: number;
    stream: Stream;
    onFault: OnFault;
    watch?: Pick<DatabaseWatch, "isAway" | "isReady" | "status">;
  },
): void {
  guardServer(server, onFault);
  limitTime(server);
  const { budgets, trustedProxies } = limits;
  limitSockets(server, { budgets, trustedProxies, perAddress: sockets });
  if (watch !== undefined) answerProbes(server, watch);
  limitClients(server, limits);
  attachStream(server, stream);
}
