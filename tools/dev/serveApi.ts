import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { budgetOfUpgrade } from "tallystick-runtime/http/limitClients";
import { surviveRequests } from "tallystick-runtime/http/requestScope";
import { createApi } from "../../indexer/api/app.ts";
import { clientLimits } from "../../indexer/api/clientLimits.ts";
import { protectServer } from "../../indexer/api/protectServer.ts";
import { createStream } from "../../indexer/api/stream/createStream.ts";
import { watchDatabase } from "../../indexer/databaseWatch.ts";
import { openOperations } from "../../indexer/operations.ts";
import { openReadDatabase } from "../../indexer/readDatabase.ts";

/** The input of the serving process. */
export type ServedNode = {
  port: number;
  databaseUrl: string;
  databaseSchema: string;
  chainId: number;
  token: Address;
  settlementUrl: string | null;
  ledgers: Hex[];
};

// A process that serves the API over the rows that a node's indexer writes, without limits for its clients. `npm run
// dev` starts it again whenever the code changes. SERVED_NODE: a ServedNode as JSON.

const node = JSON.parse(process.env.SERVED_NODE ?? "{}") as ServedNode;
const { port, databaseUrl, databaseSchema, chainId, token, settlementUrl, ledgers } = node;
const { db } = openReadDatabase({ databaseUrl, databaseSchema });
const watch = watchDatabase({ databaseUrl, databaseSchema });
const operations = openOperations(databaseUrl, databaseSchema);
const limits = clientLimits({ trustedProxies: 0, clientLimits: { points: 0, streams: 0 } });
const stream = createStream({
  db,
  isAway: () => watch.isAway,
  budgetOf: (request) => budgetOfUpgrade(request, limits),
});
const app = createApi({
  db,
  watch,
  operations,
  node: { chainId, token },
  settlementUrl,
  ledgers,
  // Each start is another version, because a browser may have cached answers of earlier code.
  version: String(process.pid),
});
const onFault = (error: unknown) =>
  void process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
surviveRequests(onFault);
const server = createAdaptorServer({ fetch: app.fetch }) as Server;
protectServer(server, { limits, sockets: 0, stream, onFault, watch });
server.listen(port, "127.0.0.1");
