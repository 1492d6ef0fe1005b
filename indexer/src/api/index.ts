import { db } from "ponder:api";
import { config, operations } from "../../environment.ts";
import { metricsRegistry } from "../../ponderProcess.ts";
import { createApi } from "./app.ts";
import { registerMetrics } from "./metrics.ts";

registerMetrics(metricsRegistry(), operations);

// Ponder serves what this module exports.
export default createApi({
  db,
  operations,
  node: { chainId: config.chainId, token: config.token },
  settlementUrl: config.settlementUrl,
});
