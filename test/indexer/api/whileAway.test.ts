import { expect } from "chai";
import { createApi } from "../../../indexer/api/app.ts";
import type { Database } from "../../../indexer/api/database.ts";
import { wallet } from "../../derive/eventLog.ts";

/** Routes that need no database, and the stream, which has a refusal of its own. */
const WITHOUT = ["/v1/report-key", "/v1/stream", "/.well-known/agent-card.json"];

/** A parameter of each kind of path. */
const EXAMPLES: { [name: string]: string } = {
  id: wallet(1),
  alias: "someone",
  capability: "text.translate",
};

describe("a node whose database does not answer", () => {
  /** Any request to this database throws an error. */
  const db = new Proxy({}, { get: (_, name) => expect.fail(`a route asked the database (${String(name)})`) });
  const app = createApi({
    db: db as Database,
    operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
    node: { chainId: 31_337, token: wallet(0x70) },
    settlementUrl: null,
    ledgers: ["0x01"],
    watch: { isAway: true, goesAwayDuring: () => expect.fail("a route was begun") },
  });

  it("refuses every route that it describes, without asking the database", async () => {
    const described = (await (await app.request("/openapi.json")).json()) as {
      paths: { [path: string]: object };
    };
    const refused: string[] = [];
    for (const [path, methods] of Object.entries(described.paths)) {
      if (!("get" in methods) || WITHOUT.includes(path)) continue;
      const asked = path.replaceAll(/\{(\w+)\}/g, (_, name) => EXAMPLES[name] ?? "1");
      const response = await app.request(asked);
      expect(response.status, asked).to.equal(503);
      const { code } = (await response.json()) as { code: string };
      // The routes of settlement need no database of the node.
      if (code !== "settlement_not_configured")
        expect([asked, code]).to.deep.equal([asked, "database_unavailable"]);
      if (code === "database_unavailable") refused.push(path);
    }
    expect(refused).to.include.members([
      ...["/v1/aliases/{alias}", "/v1/breach-steps", "/v1/ledger/entries", "/v1/events", "/v1/market"],
    ]);
  });
});
