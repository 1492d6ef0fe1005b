import { budgetOfUpgrade } from "tallystick-runtime/http/limitClients";
import { requestHistogram } from "tallystick-runtime/http/measureRoutes";
import { surviveRequests } from "tallystick-runtime/http/requestScope";
import { apiVersion } from "../buildVersion.ts";
import { watchDatabase } from "../databaseWatch.ts";
import { config, operations } from "../environment.ts";
import { logWarning, metricsRegistry, ponderSchema, shutdownSignal } from "../ponderProcess.ts";
import { openReadDatabase } from "../readDatabase.ts";
import { createApi } from "./app.ts";
import { clientLimits } from "./clientLimits.ts";
import { paymentChainOf } from "./insights/paymentChain.ts";
import { registerMetrics } from "./metrics.ts";
import { protectServer } from "./protectServer.ts";
import { nextRulingDue } from "./rows/steward.ts";
import { createStream } from "./stream/createStream.ts";
import { onHttpServer } from "./stream/onHttpServer.ts";

const registry = metricsRegistry();

const { databaseUrl } = config;
const databaseSchema = ponderSchema() ?? config.databaseSchema;
const { db } = openReadDatabase({ databaseUrl, databaseSchema });
registerMetrics(registry, operations, () => nextRulingDue(db));
const watch = watchDatabase({ databaseUrl, databaseSchema });

const limits = clientLimits(config);
const stream = createStream({
  db,
  isAway: () => watch.isAway,
  budgetOf: (request) => budgetOfUpgrade(request, limits),
});
const onFault = (error: unknown) =>
  logWarning({
    msg: "A request caused an internal error",
    cause: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
onHttpServer((server) =>
  protectServer(server, { limits, sockets: config.clientLimits.sockets, stream, onFault, watch }),
);
surviveRequests(onFault);
shutdownSignal().addEventListener("abort", () => {
  stream.close();
  void watch.close();
});

// Ponder serves what this module exports.
export default createApi({
  db,
  watch,
  observeRequest: registry && requestHistogram(registry),
  operations,
  node: {
    chainId: config.chainId,
    token: config.token,
    anchoredLedger: config.anchoredLedger,
    tokenDomain: config.tokenDomain,
  },
  settlementUrl: config.settlementUrl,
  ledgers: [...config.ledgers.keys()],
  version: apiVersion(config),
  reportKey: config.reportKey,
  insightsPrice: config.insights && {
    ...config.insights,
    chainId: config.chainId,
    token: { address: config.token, ...config.tokenDomain },
    store: operations.payments,
    chain: paymentChainOf(config.rpcUrl, {
      ...{ chainId: config.chainId, token: config.token },
      ...config.tokenDomain,
    }),
  },
});
