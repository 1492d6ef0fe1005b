import { Hono } from "hono";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { positionOf } from "tallystick-runtime/http/positionOf";
import type { AppDependencies } from "../appDependencies.ts";
import { parseSettleRequest } from "../engine/proposal.ts";
import { DEFAULT_HISTORY, MAX_HISTORY, readTaskStatus } from "../engine/taskStatus.ts";
import { readJson } from "../http/readJson.ts";
import { requireBearer } from "../http/requireBearer.ts";

/**
 * Generic settlement (swarm.at §7.1).
 *
 * - `POST /v1/settle` takes a proposal, and optionally its `shadow`; answers `{status: "SETTLED", hash, index,
 *   timestamp}`, `{status: "REJECTED", reason, head?}` (`head`, after a drift, is what to re-base on) or `{status: "ESCROWED", reason, id, divergence}`, all with 200:
 *   each is an outcome of the protocol, not an error of the request.
 * - `GET /v1/status/{task_id}?limit=&before=` tells the latest of a task and its history: `{task_id, status, hash?, index?,
 *   history, next, held, consensus}`, `limit` entries (20, at most 100) and where the older ones begin (`next`, to be given
 *   as `before`); 404 when nothing is known of it. `consensus` is null, or `{final, final_at, proposals: [{proposal,
 *   staker, index, verifies, contests}]}` (swarm.at §11), `final` being the proposal that reached finality.
 */
export function settleRoutes(dependencies: AppDependencies): Hono {
  const { engine, apiKeys, metrics } = dependencies;
  const app = new Hono();

  app.post("/v1/settle", async (c) => {
    const { agent } = await requireBearer(c.req.header("authorization"), apiKeys);
    const { proposal, shadow } = parseSettleRequest(await readJson(c.req.raw));
    const outcome = await engine.settle(agent === undefined ? proposal : { ...proposal, agent }, shadow);
    metrics.countOutcome("settlement", outcome.status);
    return c.json(outcome);
  });

  app.get("/v1/status/:task_id", async (c) => {
    const taskId = c.req.param("task_id");
    const { settled, next, held, consensus } = await readTaskStatus(taskId, dependencies, {
      limit: limitOf(c.req.query("limit")),
      before: positionOf(c.req.query("before"), "before"),
    });
    const latest = settled.at(-1);
    const last = held.at(-1);
    if (
      latest === undefined &&
      last === undefined &&
      consensus === null &&
      c.req.query("before") === undefined
    ) {
      throw new TallystickError({
        code: "unknown_task",
        message: `Nothing is known of task ${taskId}.`,
        hint: "Rejected proposals are not kept. Settle it again on the present head (GET /v1/ledger/latest).",
      });
    }
    // The latest statement counts. A held proposal counts as rejected once it was rejected, and as settled once its
    // release is in the ledger.
    const isHeld = last !== undefined && (latest === undefined || last.timestamp > latest.timestamp);
    const isRejected = last?.review?.decision === "reject";
    const status = !isHeld ? (latest ? "SETTLED" : null) : isRejected ? "REJECTED" : "ESCROWED";
    return c.json({
      task_id: taskId,
      status,
      ...(latest !== undefined && !isHeld && { hash: latest.hash, index: latest.index }),
      history: settled,
      next,
      held,
      consensus: consensus && {
        final: consensus.final,
        final_at: consensus.finalAt,
        proposals: consensus.proposals.map(({ verifyCount, contestCount, ...proposal }) => ({
          ...proposal,
          verify_count: verifyCount,
          contest_count: contestCount,
        })),
      },
    });
  });

  return app;
}

function limitOf(text: string | undefined): number {
  const limit = positionOf(text, "limit") ?? DEFAULT_HISTORY;
  if (limit >= 1 && limit <= MAX_HISTORY) return limit;
  throw new InvalidInputError({ issues: [{ field: "limit", message: `must be from 1 to ${MAX_HISTORY}` }] });
}
