import * as z from "zod";

/** The longest task id, in characters. */
export const MAX_TASK_ID_LENGTH = 128;

/** The id of a task (swarm.at §4.1): any text without control characters. UUIDs are usual. */
export const taskIdSchema = z
  .string()
  .min(1, "must not be empty")
  .max(MAX_TASK_ID_LENGTH, `must have at most ${MAX_TASK_ID_LENGTH} characters`)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, "must not have control characters or lone surrogates");
