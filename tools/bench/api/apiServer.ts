import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { createAdaptorServer } from "@hono/node-server";
import { budgetOfUpgrade } from "tallystick-runtime/http/limitClients";
import { createApi } from "../../../indexer/api/app.ts";
import { clientLimits } from "../../../indexer/api/clientLimits.ts";
import { protectServer } from "../../../indexer/api/protectServer.ts";
import { createStream } from "../../../indexer/api/stream/createStream.ts";
import { openReadDatabase } from "../../../indexer/readDatabase.ts";
import { countPoints } from "./costs/countPoints.ts";

// The API as a separate process over a filled database, with the protection of a real node. argv: the
// database URL, the limits of one client as JSON (as in the configuration; default: no limits), and the
// number of trusted proxies. For every line on its input it prints how many seconds of processor time it has used
// and how many points it has charged. Its input ends when its parent is gone. Then this process ends too.

const [databaseUrl = "", limitsText, proxies = "0"] = process.argv.slice(2);
const { db } = openReadDatabase({ databaseUrl, databaseSchema: "public" });
const app = createApi({
  db,
  operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
  node: { chainId: 31_337, token: `0x${"70".repeat(20)}` },
  settlementUrl: null,
});
const { sockets, ...perClient } = JSON.parse(limitsText ?? '{"points":0,"streams":0,"sockets":0}');
const limits = clientLimits({ trustedProxies: Number(proxies), clientLimits: perClient });
const points = countPoints(limits.budgets);
const server = createAdaptorServer({ fetch: app.fetch }) as Server;
protectServer(server, {
  limits,
  sockets,
  stream: createStream({ db, budgetOf: (request) => budgetOfUpgrade(request, limits) }),
  // Health is answered by the process itself, as in a real node.
  watch: { isAway: false, isReady: true, status: {} },
  onFault: (error) => process.stderr.write(`${error}\n`),
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
createInterface({ input: process.stdin })
  .on("line", () => {
    const { user, system } = process.cpuUsage();
    process.stdout.write(`${JSON.stringify({ cpuSeconds: (user + system) / 1e6, points: points() })}\n`);
  })
  .on("close", () => process.exit());
