import { Hono } from "hono";
import type { AppDependencies } from "../app.ts";
import { readSignedRecord } from "../engine/readSignedRecord.ts";
import type { RecordType } from "../engine/recordRules.ts";
import { readJson } from "../http/readJson.ts";

/**
 * Signed records: `POST /v1/listings` and `POST /v1/receipts` (SHP §6, §9).
 *
 * Both take `{body, signature, signer?}`, or the body with its `signature` inside, as existing Swarmwage SDKs send it.
 * Answers 201 with `{status: "SETTLED", type, hash, index, timestamp}`, or 200 with the same when the ledger has this
 * record already. No API key: the signature is the right to say it.
 */
export function recordRoutes({ engine }: AppDependencies): Hono {
  const app = new Hono();
  const routes: [string, RecordType][] = [
    ["/v1/listings", "listing"],
    ["/v1/receipts", "receipt"],
  ];
  for (const [path, type] of routes) {
    app.post(path, async (c) => {
      const { record, explain } = readSignedRecord(await readJson(c.req.raw), type);
      const { known, ...settled } = await engine.settleRecord(record).catch((error) => {
        throw explain(error);
      });
      return c.json({ type, ...settled }, known ? 200 : 201);
    });
  }
  return app;
}
