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
 * - `POST /v1/settle` takes a proposal, and optionally its `shadow`. It answers 200 with `{status: "SETTLED", hash,
 *   index, timestamp}`, `{status: "REJECTED", reason, head?}` or `{status: "ESCROWED", reason, id, divergence}`. Each is
 *   an outcome of the protocol, not an error of the request. After a drift, `head` is the hash to re-base on.
 * - `GET /v1/status/{task_id}?limit=&before=` answers the latest status of a task and its history: `{task_id, status,
 *   hash?, index?, history, next, held, consensus}`. `limit` is the number of entries (default 20, at most 100). `next` is
 *   the `before` that gives the next older entries. 404 if nothing is known of the task. `consensus` is null, or `{final,
 *   final_at, proposals}`: each proposal with its votes and their numbers, `verify_count` and `contest_count`. `final` is
 *   the proposal that reached finality (swarm.at §11).
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
    await engine.certainOf(taskId);
    const { latest, settled, next, held, isHeldLast, consensus } = await readTaskStatus(
      taskId,
      dependencies,
      {
        limit: limitOf(c.req.query("limit")),
        before: positionOf(c.req.query("before"), "before"),
      },
    );
    const last = held.at(-1);
    if (latest === undefined && last === undefined && consensus === null) {
      throw new TallystickError({
        code: "unknown_task",
        message: `Nothing is known of task ${taskId}.`,
        hint: "Rejected proposals are not kept. Settle it again on the present head (GET /v1/ledger/latest).",
      });
    }
    // The latest statement counts. A held proposal counts as rejected once it was rejected, and as settled once its
    // release is in the ledger.
    const isRejected = last?.review?.decision === "reject";
    const status = !isHeldLast ? (latest ? "SETTLED" : null) : isRejected ? "REJECTED" : "ESCROWED";
    return c.json({
      task_id: taskId,
      status,
      ...(latest !== undefined && !isHeldLast && { hash: latest.hash, index: latest.index }),
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
