import { Hono } from "hono";
import { TallystickError } from "../protocol/errors.ts";
import type { Hex } from "../protocol/hex.ts";
import type { ProofBundle } from "../protocol/proof/proofBundle.ts";
import type { RecoverPublicKey } from "../protocol/signatures/recoverPublicKey.ts";
import type { AnchoringState } from "./anchoring/anchorer.ts";
import type { AnchorRecord } from "./anchoring/anchorLog.ts";
import type { ClaimDesk } from "./claims/claimDesk.ts";
import type { HeldProposals } from "./engine/heldProposals.ts";
import type { LedgerIndex } from "./engine/ledgerIndex.ts";
import type { RuleBook } from "./engine/ruleBook.ts";
import type { SettlementEngine } from "./engine/settlementEngine.ts";
import { headersOf, problemOf, problemResponse } from "./http/problem.ts";
import { type RateLimitConfig, rateLimits } from "./http/rateLimits.ts";
import type { ApiKeys } from "./keys/apiKeys.ts";
import type { DiskLedger } from "./ledger/diskLedger.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Checkpoints } from "./proofs/checkpoints.ts";
import { actionRoutes } from "./routes/actionRoutes.ts";
import { claimRoutes } from "./routes/claimRoutes.ts";
import { contextRoutes } from "./routes/contextRoutes.ts";
import { healthRoutes } from "./routes/healthRoutes.ts";
import { ledgerRoutes } from "./routes/ledgerRoutes.ts";
import { proofRoutes } from "./routes/proofRoutes.ts";
import { recordRoutes } from "./routes/recordRoutes.ts";
import { reviewRoutes } from "./routes/reviewRoutes.ts";
import { settleRoutes } from "./routes/settleRoutes.ts";
import { tileRoutes } from "./routes/tileRoutes.ts";

export type AppDependencies = {
  engine: SettlementEngine;
  ledger: DiskLedger;
  index: LedgerIndex;
  held: HeldProposals;
  ruleBook: RuleBook;
  /** What the ledger is called: its id on chain (`local` when it is not anchored) and its origin. */
  ledgerName: { ledger: Hex | "local"; origin: string };
  /** How signers that a record does not name are recovered. */
  recover: RecoverPublicKey;
  /** Keys that may settle generic proposals. */
  apiKeys: ApiKeys;
  rateLimits: RateLimitConfig;
  checkpoints: Checkpoints;
  /** The ledger on chain; null when it is not anchored. */
  identity: ProofBundle["ledger"];
  /** The last anchor that still stands, if its transaction is known. */
  lastAnchor: () => AnchorRecord | undefined;
  /** Absent when this service attests no claims. */
  claimDesk?: ClaimDesk;
  /** How anchoring goes; absent when the ledger is not anchored. */
  anchoring?: () => AnchoringState;
  metrics: Metrics;
  /** The time, in seconds since 1970. */
  now: () => number;
  log: Log;
};

/** Every route and the methods it has, for the answer to a wrong one. */
const METHODS: { [path: string]: string } = {
  "/v1/settle": "POST",
  "/v1/actions": "POST",
  "/v1/listings": "POST",
  "/v1/receipts": "POST",
  "/v1/rate": "POST",
  "/telemetry": "POST",
  "/v1/stake": "POST",
  "/v1/verify": "POST",
  "/v1/contest": "POST",
  "/v1/params": "POST",
  "/v1/claim": "POST",
  "/v1/claim/verify": "POST",
  "/v1/reviews": "GET",
  "/v1/reviews/:id": "GET and POST",
  "/v1/status/:task_id": "GET",
  "/v1/context": "GET",
  "/v1/rules": "GET",
  "/v1/ledger/latest": "GET",
  "/v1/ledger/verify": "GET",
  "/v1/ledger/entries": "GET",
  "/v1/ledger/checkpoint": "GET",
  "/v1/ledger/key": "GET",
  "/v1/ledger/proof": "GET",
  "/v1/ledger/consistency": "GET",
  "/v1/ledger/bundle": "GET",
  "/health": "GET",
  "/metrics": "GET",
};

/** What costs more to read than a look into memory or a file: the whole ledger again, or a signature for every size. */
const COSTLY = ["/v1/ledger/verify", "/v1/ledger/checkpoint", "/v1/ledger/bundle", "/tlog/checkpoint"];

/** The HTTP side of settlement. Every error leaves as `application/problem+json`, made in one place. */
export function createApp(dependencies: AppDependencies): Hono {
  const app = new Hono();
  app.onError((error) => problemResponse(problemOf(error, dependencies.log), headersOf(error)));

  const limit = rateLimits(dependencies.rateLimits, dependencies);
  app.use((c, next) => (c.req.method === "POST" || COSTLY.includes(c.req.path) ? limit(c, next) : next()));

  const features = [
    settleRoutes,
    actionRoutes,
    recordRoutes,
    claimRoutes,
    reviewRoutes,
    ledgerRoutes,
    proofRoutes,
    tileRoutes,
    contextRoutes,
    healthRoutes,
  ];
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
