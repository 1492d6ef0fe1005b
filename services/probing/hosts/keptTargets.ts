import { z } from "zod";
import type { Target } from "../terms/target.ts";

const form = z.array(
  z.object({
    agent: z.string(),
    payee: z.string().nullable(),
    capability: z.string(),
    paymentMode: z.string(),
    endpoint: z.string(),
    maxLatencyMs: z.int(),
  }),
);

/**
 * The listings that an earlier process stored.
 *
 * @throws ZodError for anything else
 */
export async function* keptTargets(json: unknown): AsyncGenerator<Target> {
  yield* form.parse(json) as Target[];
}
