import { Hono } from "hono";
import { TallystickError } from "tallystick-protocol/errors";
import { answerError } from "tallystick-runtime/http/answerError";
import type { Log } from "tallystick-runtime/stderrLog";
import { SETTLEMENT_STATUS } from "../http/statusByCode.ts";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { StandbyState } from "./waitForTurn.ts";

/** How soon to ask again, in seconds. */
const RETRY_AFTER = "5";

/**
 * The answers of a machine that stands by. `GET /health` gives the reason and the size of its copy, with 503,
 * so that a balancer sends nothing here. Everything else is 503 too.
 */
export function standbyApp({
  ledger,
  ledgerName,
  state,
  log,
}: {
  ledger: Pick<DiskLedger, "size" | "head">;
  ledgerName: { ledger: string; origin: string };
  state: () => StandbyState;
  log: Log;
}): Hono {
  const app = new Hono();
  app.get("/health", (c) => {
    const { code, message: detail, hint } = state().reason;
    const health = {
      status: "standby",
      code,
      detail,
      hint,
      ...ledgerName,
      size: ledger.size,
      hash: ledger.head,
    };
    return c.json(health, 503);
  });
  app.all("*", () => {
    const { code, message, hint } = state().reason;
    const details = { headers: { "retry-after": RETRY_AFTER } };
    throw new TallystickError({ code, message, ...(hint !== undefined && { hint }), details });
  });
  app.onError((error) =>
    answerError(error, {
      statusByCode: SETTLEMENT_STATUS,
      log: (cause) => log("A request failed.", { error: cause }),
    }),
  );
  return app;
}
