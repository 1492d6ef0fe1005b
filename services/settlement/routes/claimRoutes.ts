import { Hono } from "hono";
import { addressSchema } from "tallystick-protocol/address";
import { invalidInputFromZod, TallystickError } from "tallystick-protocol/errors";
import { xHandleSchema } from "tallystick-protocol/records/claim";
import { signatureSchema } from "tallystick-protocol/records/nestedSignature";
import { z } from "zod";
import type { AppDependencies } from "../appDependencies.ts";
import type { ClaimDesk } from "../claims/claimDesk.ts";
import { limitADay } from "../http/rateLimits.ts";
import { readJson } from "../http/readJson.ts";
import { outcomeName, recordResponse } from "./recordRoutes.ts";

const challengeSchema = z.object({ agent_id: addressSchema, x_handle: xHandleSchema });
const proofSchema = challengeSchema.extend({
  nonce: z.string().max(128),
  signature: signatureSchema,
  post_id: z
    .string()
    .regex(/^[0-9]{1,20}$/, "must be the number in the post's address")
    .optional(),
});

/**
 * How often in a day this service asks X for one network address. X counts each question, and may take money for it.
 */
const MAX_QUESTIONS_A_DAY = 100;

/**
 * Human ownership of agents (SHP §4.2).
 *
 * - `POST /v1/claim` takes `{agent_id, x_handle}`; answers `{agent_id, x_handle, nonce, verification_hash, text,
 *   expires_at}`. The account posts the text. Nothing is settled.
 * - `POST /v1/claim/verify` takes `{agent_id, x_handle, nonce, signature, post_id?}`. The agent makes `signature` over
 *   `{agent_id, x_handle, nonce}`, as for a record. The service asks X for the post. If there is no such post, the
 *   answer is 422 `claim_not_proven`. Otherwise the claim is settled, signed by the attestor, and answered like every
 *   record. For a network address without a key, X is asked at most 100 times a day.
 */
export function claimRoutes(dependencies: AppDependencies): Hono {
  const { claimDesk, metrics } = dependencies;
  const limit = { most: MAX_QUESTIONS_A_DAY, done: `asked for posts of X ${MAX_QUESTIONS_A_DAY} times` };
  const countQuestion = limitADay(limit, dependencies);
  const app = new Hono();

  app.post("/v1/claim", async (c) => {
    const desk = openDesk(claimDesk);
    const { agent_id, x_handle } = await read(c.req.raw, challengeSchema);
    const challenge = desk.challenge({ agentId: agent_id, handle: x_handle });
    const { nonce, verificationHash: verification_hash, text, expiresAt: expires_at } = challenge;
    return c.json({ agent_id, x_handle, nonce, verification_hash, text, expires_at });
  });

  app.post("/v1/claim/verify", async (c) => {
    const desk = openDesk(claimDesk);
    const { agent_id, x_handle, nonce, signature, post_id } = await read(c.req.raw, proofSchema);
    const subject = { agentId: agent_id, handle: x_handle, nonce, signature };
    const { record, postId, verificationHash } = await desk.verify({
      ...subject,
      ...(post_id !== undefined && { postId: post_id }),
      beforeAsking: () => countQuestion(c),
    });
    metrics.countOutcome("claim", outcomeName(record));
    const about = {
      agent_id,
      x_handle,
      state: "verified",
      verification_hash: verificationHash,
      post_id: postId,
    };
    return recordResponse(c, "claim", record, about);
  });

  return app;
}

function openDesk(claimDesk: ClaimDesk | undefined): ClaimDesk {
  if (claimDesk) return claimDesk;
  throw new TallystickError({
    code: "claims_unavailable",
    message: "This service attests no claims.",
    hint: "Its operator can set CLAIM_ATTESTOR_PRIVATE_KEY and X_API_KEY. Until then ask another node.",
  });
}

async function read<Schema extends z.ZodType>(request: Request, schema: Schema): Promise<z.output<Schema>> {
  const value = await readJson(request);
  const parsed = schema.safeParse(value);
  // A body that is not an object gets the same error as on the other routes.
  if (!parsed.success) {
    const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
    throw isObject
      ? invalidInputFromZod(parsed.error)
      : invalidInputFromZod({ issues: [{ path: ["body"], message: "must be a JSON object" }] });
  }
  return parsed.data;
}
