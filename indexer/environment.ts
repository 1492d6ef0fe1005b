import { readConfig } from "./config.ts";
import { openOperations } from "./operations.ts";
import { ponderSchema } from "./ponderProcess.ts";

// The environment of an indexer's process. Only handlers, the API's entry point and ponder.config import this
// file. All other code gets what it needs as arguments.

/** The configuration. Reading it fails with a list of what is missing. */
export const config = readConfig(process.env);

/** The operational state; connects when it is first needed. */
export const operations = openOperations(config.databaseUrl, ponderSchema() ?? config.databaseSchema);
