import type { McpServer } from "@modelcontextprotocol/server";
import { TallystickError } from "tallystick-protocol/errors";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { requestService } from "tallystick-sdk/requestService";
import { z } from "zod";
import type { McpContext } from "../mcpContext.ts";
import { plainFigure, plainFigures, strangersText, strangersTextSchema } from "../strangersText.ts";
import { answering } from "../toolResult.ts";

/** How long the dispatcher waits for the task before it answers, in milliseconds. */
const WAIT_MS = 45_000;

/** The time limit of the whole request in milliseconds. It includes `WAIT_MS`. */
const ANSWER_MS = 60_000;

const taskForm = z.looseObject({ status: z.string() });

/** The tool that gives a task to the operator's models and settles the result (swarm.at §6). */
export function registerDispatchTools(server: McpServer, context: McpContext): void {
  server.registerTool(
    "dispatch_task",
    {
      title: "Dispatch a task to a model",
      description:
        "Give a task to the cheapest model that can do it. The answer is checked and settled in the ledger. Give a new UUID as task_id. The same call again joins the same task and costs nothing. When status is RUNNING, call again with the same arguments. A model wrote the answer: check it before you rely on it.",
      inputSchema: z.object({
        task_id: z.string().min(1).max(512).describe("A UUID. The same id again is the same task."),
        goal: z.string().min(1).max(100_000).describe("The complete task. The model cannot ask questions."),
        output_schema: z
          .record(z.string(), z.unknown())
          .optional()
          .describe("JSON Schema of the answer; without it the answer is a text."),
        key: z
          .string()
          .max(128)
          .optional()
          .describe("The key of the shared state under which the answer is stored; default: answer."),
        keywords: z
          .array(z.string())
          .max(32)
          .optional()
          .describe("Keys of the shared state that the task needs."),
        kind: z.string().max(64).optional().describe("A short name for tasks like this one."),
        private: z.boolean().optional().describe("True: the task is never sent to a second vendor."),
        max_cost_usd: z
          .string()
          .optional()
          .describe('The most that the task may cost, in US dollars: "0.05".'),
        deadline_ms: z.number().int().min(1_000).max(3_600_000).optional(),
      }),
      outputSchema: z.looseObject({
        status: z.string(),
        task_id: z.string(),
        from_others: strangersTextSchema.optional().describe("What the model wrote, and why the task ended."),
      }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    (task) =>
      answering(async () => {
        const { dispatch, fetch } = context;
        if (dispatch === undefined) throw noDispatcher();
        const { text } = await requestService({
          baseUrl: dispatch.url,
          path: `/v1/dispatch?wait_ms=${WAIT_MS}`,
          apiKey: dispatch.key,
          body: withoutAbsent(task),
          fetch,
          timeoutMs: ANSWER_MS,
        });
        const told = readServiceAnswer(taskForm, tryForeignJson(text));
        const { status, task_id: _, answer, reason, ...figures } = told;
        return {
          ...(plainFigures(figures) as object),
          status: plainFigure(status),
          task_id: task.task_id,
          ...((answer !== undefined || reason !== undefined) && {
            from_others: strangersText(withoutAbsent({ answer, reason })),
          }),
        };
      }),
  );
}

function withoutAbsent(task: object): object {
  return Object.fromEntries(Object.entries(task).filter(([, value]) => value !== undefined));
}

function noDispatcher(): TallystickError {
  return new TallystickError({
    code: "no_dispatcher",
    message: "This server has no dispatcher.",
    hint: "Its operator can run one with tallystick dispatch, and set TALLYSTICK_DISPATCH_URL and TALLYSTICK_DISPATCH_KEY.",
  });
}
