import { Hono } from "hono";
import { TallystickError } from "../../protocol/errors.ts";
import type { AppDependencies } from "../app.ts";
import { parseSettleRequest } from "../engine/proposal.ts";
import { readJson } from "../http/readJson.ts";
import { requireBearer } from "../http/requireBearer.ts";

/**
 * Generic settlement (swarm.at §7.1).
 *
 * - `POST /v1/settle` takes a proposal, and optionally its `shadow`; answers `{status: "SETTLED", hash, index,
 *   timestamp}`, `{status: "REJECTED", reason}` or `{status: "ESCROWED", reason, id, divergence}`, all with 200:
 *   each is an outcome of the protocol, not an error of the request.
 * - `GET /v1/status/{task_id}` tells the latest of a task and its history; 404 when nothing is known of it.
 */
export function settleRoutes({ engine, apiKeys }: AppDependencies): Hono {
  const app = new Hono();

  app.post("/v1/settle", async (c) => {
    requireBearer(c.req.header("authorization"), apiKeys);
    const { proposal, shadow } = parseSettleRequest(await readJson(c.req.raw));
    return c.json(await engine.settle(proposal, shadow));
  });

  app.get("/v1/status/:task_id", async (c) => {
    const taskId = c.req.param("task_id");
    const { settled, held } = await engine.status(taskId);
    const latest = settled.at(-1);
    const waiting = held.at(-1);
    if (latest === undefined && waiting === undefined) {
      throw new TallystickError({
        code: "unknown_task",
        message: `Nothing is known of task ${taskId}.`,
        hint: "Rejected proposals are not kept. Settle it again on the present head (GET /v1/ledger/latest).",
      });
    }
    const isHeld = latest === undefined || (waiting !== undefined && waiting.timestamp > latest.timestamp);
    return c.json({
      task_id: taskId,
      status: isHeld ? "ESCROWED" : "SETTLED",
      ...(latest !== undefined && !isHeld && { hash: latest.hash, index: latest.index }),
      history: settled,
      held,
    });
  });

  return app;
}
