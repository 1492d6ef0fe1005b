import { createRoute, z } from "@hono/zod-openapi";
import { badRequest, json, notModified } from "../rest/routes.ts";

// The routes of the open log, as data. With the log anybody can compute this node's figures again.

/** The paths of the log, which are refused while the database is away. Their pages have their own tags. */
export const LOG_PATHS = ["/v1/events", "/v1/digests"];

/** The most lines or digests of one answer. */
const MAX_LIMIT = 5_000;

const count = (name: string, description: string) =>
  z
    .string()
    .regex(/^[0-9]{1,15}$/, "must be a whole number")
    .transform(Number)
    .openapi({ param: { name, in: "query" }, type: "integer", minimum: 0, description });

const limit = z
  .string()
  .regex(/^[1-9][0-9]{0,3}$/, `must be a whole number from 1 to ${MAX_LIMIT}`)
  .transform(Number)
  .refine((it) => it <= MAX_LIMIT, `must be at most ${MAX_LIMIT}; go on from where the page ends`)
  .default(1_000)
  .openapi({ param: { name: "limit", in: "query" }, type: "integer", minimum: 1, maximum: MAX_LIMIT });

/**
 * The header that gives the place of a page in the log: `first=1, next=1001, last=123456`, a dictionary of
 * RFC 9651.
 */
export const LINES_HEADER = "tallystick-lines";

const tags = ["Log"];

export const eventsRoute = createRoute({
  method: "get",
  path: "/v1/events",
  operationId: "listEvents",
  tags,
  summary: "The event log, a page of lines",
  description:
    "Everything that is derived follows from this log. It has one JSON object a line, in the order in which events are applied, as " +
    "`tallystick export` writes it. Line 1 has the parameters, the token and the form of the log. Only final lines are given, so a page never " +
    "changes: follow `next` until it is beyond `last`. A page has fewer lines than asked for when these would be longer than 4 MiB.",
  request: {
    query: z.object({ after: count("after", "The number of the line before the page").default(0), limit }),
  },
  responses: {
    200: {
      description: `Lines; \`${LINES_HEADER}\` gives three line numbers: the first of the page, the first after the page, and the last of the log`,
      content: { "application/jsonl": { schema: z.string() } },
    },
    ...notModified,
    ...badRequest,
  },
});

export const digestsRoute = createRoute({
  method: "get",
  path: "/v1/digests",
  operationId: "listDigests",
  tags,
  summary: "The digest of every tick",
  description:
    "One hash over all that was derived up to a tick, equal on every node that has the same parameters. Only final ticks are given.",
  request: {
    query: z.object({
      from: count("from", "The first block").default(0),
      to: count("to", "The last block. Default: the last final block").optional(),
      limit,
    }),
  },
  responses: {
    200: json(
      "Ticks in the order of the chain",
      z.object({
        digests: z.array(
          z.object({
            block: z.int(),
            time: z.int().openapi({ description: "Unix seconds" }),
            digest: z.string().openapi({ description: "0x and 64 hex digits" }),
            line: z.int().openapi({ description: "The number of the tick's line in the event log" }),
          }),
        ),
        next: z
          .int()
          .nullable()
          .openapi({ description: "Give it as `from` for the next page; null: no further tick is final" }),
      }),
    ),
    ...notModified,
    ...badRequest,
  },
});
