import { Hono } from "hono";
import { TallystickError } from "tallystick-protocol/errors";
import { recordTypeRoutes } from "tallystick-protocol/records/recordTypes";
import { answerError } from "tallystick-runtime/http/answerError";
import { measureRoutes } from "tallystick-runtime/http/measureRoutes";
import type { AppDependencies } from "./appDependencies.ts";
import { rateLimits } from "./http/rateLimits.ts";
import { SETTLEMENT_STATUS } from "./http/statusByCode.ts";
import { actionRoutes } from "./routes/actionRoutes.ts";
import { claimRoutes } from "./routes/claimRoutes.ts";
import { contextRoutes } from "./routes/contextRoutes.ts";
import { erc8004Routes } from "./routes/erc8004Routes.ts";
import { healthRoutes } from "./routes/healthRoutes.ts";
import { ledgerRoutes } from "./routes/ledgerRoutes.ts";
import { noticeRoutes } from "./routes/noticeRoutes.ts";
import { proofRoutes } from "./routes/proofRoutes.ts";
import { recordRoutes } from "./routes/recordRoutes.ts";
import { reviewRoutes } from "./routes/reviewRoutes.ts";
import { settleRoutes } from "./routes/settleRoutes.ts";
import { TILES_PREFIX, tileRoutes } from "./routes/tileRoutes.ts";

/** Every route and its methods, for the answer to a wrong method. A route with GET also takes HEAD. */
const METHODS: { [path: string]: string } = {
  "/v1/settle": "POST",
  "/v1/actions": "POST",
  ...Object.fromEntries(recordTypeRoutes.map(({ path }) => [path, "POST"])),
  "/v1/records": "POST",
  "/v1/claim": "POST",
  "/v1/claim/verify": "POST",
  "/v1/notices": "GET, POST",
  "/v1/notices/list": "POST",
  "/v1/erc8004/files": "POST",
  "/v1/erc8004/files/:name": "GET",
  "/v1/erc8004/hire-proof": "GET",
  "/v1/reviews": "GET",
  "/v1/reviews/:id": "GET, POST",
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
  "/v1/ledger/tlog-proof": "GET",
  [`${TILES_PREFIX}/checkpoint`]: "GET",
  [`${TILES_PREFIX}/tile/*`]: "GET",
  "/health": "GET",
  "/metrics": "GET",
};

/** Routes that cost more than a read of memory or of a file. They verify the whole ledger, or sign for each new size. */
const COSTLY = [
  "/v1/ledger/verify",
  "/v1/ledger/checkpoint",
  "/v1/ledger/bundle",
  "/v1/ledger/tlog-proof",
  "/v1/erc8004/hire-proof",
  `${TILES_PREFIX}/checkpoint`,
];

/** The HTTP side of settlement. All errors become `application/problem+json` in one place. */
export function createApp(dependencies: AppDependencies): Hono {
  const app = new Hono();
  app.use(measureRoutes(dependencies.metrics.observeRequest));
  const answer = (error: unknown): Response =>
    answerError(error, {
      statusByCode: SETTLEMENT_STATUS,
      log: (cause) => dependencies.log("A request failed.", { error: cause }),
    });
  app.onError(answer);

  const limit = rateLimits(dependencies.rateLimits, dependencies);
  app.use((c, next) => (c.req.method === "POST" || COSTLY.includes(c.req.path) ? limit(c, next) : next()));

  const { gate, engine } = dependencies;
  app.use(async (c, next) => {
    // This check comes first. Otherwise a claim would be looked up at X and then refused. Notices and files
    // are not part of the ledger.
    const isOfLedger = !/^\/v1\/(?:notices|erc8004)\b/.test(c.req.path);
    if (c.req.method === "POST" && isOfLedger && engine.mode !== "sandbox") gate.requireWrites();
    await next();
  });

  const features = [
    settleRoutes,
    actionRoutes,
    recordRoutes,
    claimRoutes,
    noticeRoutes,
    erc8004Routes,
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
        message: `${c.req.path} takes ${methods.replace(", ", " and ")} only.`,
        details: { headers: { allow: methods.replace("GET", "GET, HEAD") } },
      });
    });
  }
  app.notFound((c) =>
    answer(new TallystickError({ code: "not_found", message: `There is no ${c.req.path} here.` })),
  );
  return app;
}
