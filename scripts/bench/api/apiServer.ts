import { serve } from "@hono/node-server";
import { openReadDatabase } from "../../../indexer/readDatabase.ts";
import { createApi } from "../../../indexer/src/api/app.ts";

// The API as a process of its own, over a database that somebody filled. argv: database URL.

const [databaseUrl = ""] = process.argv.slice(2);
const { db } = openReadDatabase({ databaseUrl, databaseSchema: "public" });
const app = createApi({
  db,
  operations: { readBlocked: async () => null },
  node: { chainId: 31_337, token: `0x${"70".repeat(20)}` },
  settlementUrl: null,
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
  process.stdout.write(`${JSON.stringify({ port })}\n`);
});
