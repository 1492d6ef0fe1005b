import { apiVersion } from "../../buildVersion.ts";
import { config, operations } from "../../environment.ts";
import { metricsRegistry, ponderSchema, shutdownSignal } from "../../ponderProcess.ts";
import { openReadDatabase } from "../../readDatabase.ts";
import { createApi } from "./app.ts";
import { registerMetrics } from "./metrics.ts";
import { attachStream } from "./stream/attachStream.ts";
import { createStream } from "./stream/createStream.ts";
import { onHttpServer } from "./stream/onHttpServer.ts";

registerMetrics(metricsRegistry(), operations);

const { db } = openReadDatabase({
  databaseUrl: config.databaseUrl,
  databaseSchema: ponderSchema() ?? config.databaseSchema,
});

const stream = createStream({ db });
onHttpServer((server) => attachStream(server, stream));
shutdownSignal().addEventListener("abort", () => stream.close());

// Ponder serves what this module exports.
export default createApi({
  db,
  operations,
  node: { chainId: config.chainId, token: config.token },
  settlementUrl: config.settlementUrl,
  version: apiVersion(config.params),
  insightsPrice: config.insights && {
    ...config.insights,
    chainId: config.chainId,
    token: { address: config.token, ...config.tokenDomain },
  },
});
