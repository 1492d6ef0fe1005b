import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { openReadDatabase } from "../../../indexer/readDatabase.ts";
import { createApi } from "../../../indexer/src/api/app.ts";
import { clientLimits } from "../../../indexer/src/api/clientLimits.ts";
import { limitClients } from "../../../runtime/http/limitClients.ts";

// The API as a process of its own, over a database that somebody filled. argv: database URL, then the points that a client has
// a minute (0: no limit). It believes one proxy.

const [databaseUrl = "", points = "0"] = process.argv.slice(2);
const { db } = openReadDatabase({ databaseUrl, databaseSchema: "public" });
const app = createApi({
  db,
  operations: { readBlocked: async () => null },
  node: { chainId: 31_337, token: `0x${"70".repeat(20)}` },
  settlementUrl: null,
});
const server = createAdaptorServer({ fetch: app.fetch }) as Server;
if (points !== "0")
  limitClients(
    server,
    clientLimits({ trustedProxies: 1, clientLimits: { points: Number(points), streams: 32 } }),
  );
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
