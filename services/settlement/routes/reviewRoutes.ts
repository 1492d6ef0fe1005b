import { Hono } from "hono";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import type { AppDependencies } from "../appDependencies.ts";
import type { HeldProposal } from "../engine/heldProposals.ts";
import { readSignedRecord } from "../engine/readSignedRecord.ts";
import { pyJsonResponse } from "../http/pyJsonResponse.ts";
import { readJson } from "../http/readJson.ts";
import { requireBearer } from "../http/requireBearer.ts";
import { outcomeName, recordResponse } from "./recordRoutes.ts";

/** The most proposals that one answer lists. */
const MAX_LISTED = 100;

/**
 * Proposals that were held for high divergence, and their reviews (swarm.at §5.1).
 *
 * - `GET /v1/reviews` (Bearer key): `{waiting, items: [{id, task_id, timestamp, divergence}]}`, the oldest 100 first.
 * - `GET /v1/reviews/{id}` (Bearer key): the same for one proposal, with `parent_hash`, `proposal`, `shadow` and its
 *   `review`.
 * - `POST /v1/reviews/{id}`: the operator's signed record `{proposal: id, decision: "release" | "reject", reason}`, as
 *   `{body, signature}`. Answers like every record. A release also has `released: {hash, index, timestamp}`: the entry
 *   that the proposal became.
 */
export function reviewRoutes({ engine, held, index, apiKeys, metrics, recover }: AppDependencies): Hono {
  const app = new Hono();

  app.get("/v1/reviews", async (c) => {
    await requireBearer(c.req.header("authorization"), apiKeys);
    return c.json({ waiting: held.waiting, items: held.firstWaiting(MAX_LISTED).map(asItem) });
  });

  app.get("/v1/reviews/:id", async (c) => {
    await requireBearer(c.req.header("authorization"), apiKeys);
    const id = c.req.param("id");
    const { parentHash, payload, shadow } = await held.content(id);
    const review = index.reviewOf(id);
    const about: { [key: string]: PyJson } = {
      ...asItem(held.get(id) as HeldProposal),
      parent_hash: parentHash,
      proposal: payload,
      shadow,
      review: review ? { decision: review.decision, hash: review.hash } : null,
    };
    return pyJsonResponse(about);
  });

  app.post("/v1/reviews/:id", async (c) => {
    const { record, explain } = readSignedRecord(await readJson(c.req.raw), "review", [], recover);
    try {
      if (record.body.proposal !== c.req.param("id")) {
        const message = `must be the id in the path, ${c.req.param("id")}`;
        throw new InvalidInputError({ issues: [{ field: "body.proposal", message }] });
      }
      const outcome = await engine.settleReview(record);
      metrics.countOutcome("review", outcomeName(outcome));
      return recordResponse(c, "review", outcome);
    } catch (error) {
      throw explain(error);
    }
  });

  return app;
}

function asItem({ id, taskId, timestamp, divergence }: HeldProposal) {
  return { id, task_id: taskId, timestamp, divergence };
}
