import { z } from "@hono/zod-openapi";
import { addressSchema } from "tallystick-protocol/address";
import { TOPICS } from "./messages.ts";
import { isPosition } from "./position.ts";

/** The parameters in the URL of `/v1/stream`. */
export const streamQuery = z.object({
  topics: z
    .string()
    .transform((text) => text.split(","))
    .pipe(z.array(z.enum(TOPICS)))
    .optional()
    .openapi({
      param: { name: "topics", in: "query" },
      type: "string",
      description: `Topics with commas between: ${TOPICS.join(", ")}. Default: all`,
    }),
  agent: z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(addressSchema)
    .optional()
    .openapi({
      param: { name: "agent", in: "query" },
      type: "string",
      description: "Only events of this agent, on either side",
    }),
  from: z
    .string()
    .refine(isPosition, "must be a position of this stream, or 0")
    .optional()
    .openapi({
      param: { name: "from", in: "query" },
      description:
        "The stream begins after this `position`; 0: at the beginning. Absent: the stream begins with the next event",
    }),
});

export type StreamQuery = z.output<typeof streamQuery>;
