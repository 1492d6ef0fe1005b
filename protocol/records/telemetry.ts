import { z } from "zod";
import { invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { entryHashSchema } from "./entryHashSchema.ts";

/**
 * The body of a `telemetry`: what the buyer measured and verified of a hire (SHP §8.1, §9.2). `receipt` is the entry hash
 * of the receipt, whose buyer has to sign; `latency_ms` is from request to response.
 */
export const telemetrySchema = z.looseObject({
  receipt: entryHashSchema,
  latency_ms: z.int().min(0).optional(),
  verification: z.looseObject({ all_passed: z.boolean() }).optional(),
});

export type Telemetry = z.output<typeof telemetrySchema>;

/**
 * Reads the body of a telemetry record.
 *
 * @throws InvalidInputError naming every field at fault, prefixed with `body.`
 */
export function parseTelemetry(body: RecordBody): Telemetry {
  const result = telemetrySchema.safeParse(body);
  if (!result.success) throw invalidInputFromZod(result.error, "body");
  return result.data;
}
