import { Hono } from "hono";
import { TallystickError } from "../protocol/errors.ts";
import type { Hex } from "../protocol/hex.ts";
import type { AnchoringState } from "./anchoring/anchorer.ts";
import type { HeldProposals } from "./engine/heldProposals.ts";
import type { LedgerIndex } from "./engine/ledgerIndex.ts";
import type { SettlementEngine } from "./engine/settlementEngine.ts";
import { problemOf, problemResponse } from "./http/problem.ts";
import type { DiskLedger } from "./ledger/diskLedger.ts";
import type { Log } from "./log.ts";
import { contextRoutes } from "./routes/contextRoutes.ts";
import { healthRoutes } from "./routes/healthRoutes.ts";
import { ledgerRoutes } from "./routes/ledgerRoutes.ts";
import { recordRoutes } from "./routes/recordRoutes.ts";
import { settleRoutes } from "./routes/settleRoutes.ts";

export type AppDependencies = {
  engine: SettlementEngine;
  ledger: DiskLedger;
  index: LedgerIndex;
  held: HeldProposals;
  /** What the ledger is called: its id on chain (`local` when it is not anchored) and its origin. */
  ledgerName: { ledger: Hex | "local"; origin: string };
  /** Keys that may settle generic proposals. */
  apiKeys: readonly string[];
  /** How anchoring goes; absent when the ledger is not anchored. */
  anchoring?: () => AnchoringState;
  log: Log;
};

/** Every route and the methods it has, for the answer to a wrong one. */
const METHODS: { [path: string]: string } = {
  "/v1/settle": "POST",
  "/v1/listings": "POST",
  "/v1/receipts": "POST",
  "/v1/status/:task_id": "GET",
  "/v1/context": "GET",
  "/v1/ledger/latest": "GET",
  "/v1/ledger/verify": "GET",
  "/v1/ledger/entries": "GET",
  "/health": "GET",
};

/** The HTTP side of settlement. Every error leaves as `application/problem+json`, made in one place. */
export function createApp(dependencies: AppDependencies): Hono {
  const app = new Hono();
  app.onError((error) => problemResponse(problemOf(error, dependencies.log)));

  const features = [settleRoutes, recordRoutes, ledgerRoutes, contextRoutes, healthRoutes];
  for (const routes of features) app.route("/", routes(dependencies));

  for (const [path, methods] of Object.entries(METHODS)) {
    app.all(path, (c) => {
      throw new TallystickError({
        code: "method_not_allowed",
        message: `${c.req.path} takes ${methods} only.`,
      });
    });
  }
  app.notFound((c) => {
    const error = new TallystickError({ code: "not_found", message: `There is no ${c.req.path} here.` });
    return problemResponse(problemOf(error, dependencies.log));
  });
  return app;
}
