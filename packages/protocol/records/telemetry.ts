import * as z from "zod";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForms } from "./boundForms.ts";
import { entryHashSchema } from "./entryHashSchema.ts";

/**
 * What went wrong with a hire, by its buyer's statement. `client_error`: the buyer's own request was at fault
 * (STEWARD).
 */
export const failureSchema = z.enum(["client_error", "timeout", "internal_error", "partial_failure"], {
  error: 'must be "client_error", "timeout", "internal_error" or "partial_failure"',
});

/**
 * The body of a `telemetry`: what the buyer measured and verified of a hire (SHP §8.1, §9.2). `receipt` is the entry
 * hash of the receipt, whose buyer has to sign; `latency_ms` is from request to response.
 */
const telemetryFields = {
  receipt: entryHashSchema,
  latency_ms: z.int().min(0).optional(),
  verification: z
    .strictObject({ all_passed: z.boolean(), checks: z.record(z.string(), z.boolean()).optional() })
    .optional(),
  failure: failureSchema.optional(),
};

const read = boundForms(
  telemetryFields,
  z.looseObject({
    ...telemetryFields,
    verification: z.looseObject({ all_passed: z.boolean() }).optional(),
    // The older form does not check this key.
    failure: z
      .unknown()
      .transform(() => undefined)
      .optional(),
  }),
);

export type Telemetry = ReturnType<typeof read>;

/**
 * Reads the body of a telemetry record.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseTelemetry(body: RecordBody): Telemetry {
  return read(body);
}
