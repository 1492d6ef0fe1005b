import * as z from "zod";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForms } from "./boundForms.ts";
import { entryHashSchema } from "./entryHashSchema.ts";
import { taskIdSchema } from "./taskIdSchema.ts";

/** What agents say of a solution (swarm.at §11): its finder stakes it, others verify or contest it. */
export const consensusTypes = ["stake", "verify", "contest"] as const;

export type ConsensusType = (typeof consensusTypes)[number];

/** Whether a record type is one of {@link consensusTypes}. */
export function isConsensusType(type: unknown): type is ConsensusType {
  return consensusTypes.some((one) => one === type);
}

/**
 * The body of a `stake`, `verify` or `contest`. `proposal` is the SHA-256 of what is proposed, 64 hex digits. The swarm
 * agrees on what is hashed (a ledger entry, a file, a context); the ledger only compares it.
 */
const consensusFields = {
  task_id: taskIdSchema,
  proposal: entryHashSchema,
  verdict: z.string().max(2_000, "must have at most 2000 characters").optional(),
};

const read = boundForms(consensusFields);

export type ConsensusBody = ReturnType<typeof read>;

/**
 * Reads the body of a `stake`, `verify` or `contest`.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseConsensus(body: RecordBody): ConsensusBody {
  return read(body);
}
