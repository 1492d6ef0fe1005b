import { config, operations } from "../../environment.ts";
import { metricsRegistry, ponderSchema } from "../../ponderProcess.ts";
import { openReadDatabase } from "../../readDatabase.ts";
import { createApi } from "./app.ts";
import { registerMetrics } from "./metrics.ts";

registerMetrics(metricsRegistry(), operations);

const { db } = openReadDatabase({
  databaseUrl: config.databaseUrl,
  databaseSchema: ponderSchema() ?? config.databaseSchema,
});

// Ponder serves what this module exports.
export default createApi({
  db,
  operations,
  node: { chainId: config.chainId, token: config.token },
  settlementUrl: config.settlementUrl,
});
