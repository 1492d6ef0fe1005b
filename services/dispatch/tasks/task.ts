import { capabilityOf } from "tallystick-capabilities/capabilityOf";
import { checkInput } from "tallystick-capabilities/checkInput";
import { readCustomSchemas } from "tallystick-capabilities/customCapability";
import { jsonSizeProblem } from "tallystick-capabilities/jsonSize";
import type { JsonSchema } from "tallystick-capabilities/schemaType";
import { isCapability } from "tallystick-protocol/capability";
import { type InputIssue, InvalidInputError, invalidInputFromZod } from "tallystick-protocol/errors";
import { MAX_TASK_ID_LENGTH } from "tallystick-protocol/records/taskIdSchema";
import { z } from "zod";
import { parseDollars } from "../models/money.ts";

/** The longest goal, in characters, and the most bytes of a task as JSON. */
const MAX_GOAL = 100_000;
export const MAX_TASK_BYTES = 262_144;

const label = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must have 1 to 64 letters, digits, dots, dashes and _");
/** Keys that no task may write, because agents treat them as rules, or settlement reads them. */
const RESERVED = ["core_logic", "action", "type", "__proto__"];
const stateKey = z
  .string()
  .min(1)
  .max(128)
  .refine((it) => !/\p{Cc}|\p{Cs}|,/u.test(it), "must have no control characters and no comma")
  .refine((it) => !RESERVED.includes(it), `must not be one of ${RESERVED.join(", ")}`);

const taskSchema = z.strictObject({
  task_id: z
    .string()
    .min(1)
    .max(MAX_TASK_ID_LENGTH)
    .refine((it) => !/\p{Cc}|\p{Cs}/u.test(it), "must not have control characters or lone surrogates")
    // No path of a URL can end in one of these: settlement could not be asked what became of the task.
    .refine((it) => it !== "." && it !== "..", "must not be . or .."),
  goal: z.string().min(1).max(MAX_GOAL).optional(),
  capability: z.string().max(128).optional(),
  params: z.record(z.string(), z.unknown()).optional(),
  output_schema: z.record(z.string(), z.unknown()).optional(),
  key: stateKey.optional(),
  action: label.optional(),
  keywords: z
    .array(stateKey.or(z.literal("core_logic")))
    .max(32)
    .default([]),
  kind: label.default("general"),
  client: label.optional(),
  private: z.boolean().default(false),
  samples: z.int().min(1).max(7).default(1),
  max_cost_usd: z.string().optional(),
  deadline_ms: z.int().min(1_000).max(3_600_000).default(300_000),
});

/** A task, as the client asked for it. */
export type Task = {
  /** The task's id in the ledger. The same id always means the same task. */
  taskId: string;
  /** What is asked for, in words. */
  goal: string;
  /** A standard capability and its params. The answer must pass the capability's checks. */
  capability?: string;
  params?: { [key: string]: unknown };
  /** The schema of the answer. Absent: the answer is a text. */
  outputSchema?: JsonSchema;
  /**
   * The key of the shared state that gets the answer. Absent: the answer is an object, and each of its keys
   * is a key of the shared state.
   */
  key?: string;
  /** The name of the task's action in settlement's rules. */
  action?: string;
  keywords: string[];
  kind: string;
  client: string;
  /** A private task is never sent to a shadow model. */
  isPrivate: boolean;
  /** How many answers of one model are compared to estimate its confidence. */
  samples: number;
  /** The highest cost, in picodollars; absent: the dispatcher's limit. */
  maxCost?: bigint;
  deadlineMs: number;
};

/**
 * Reads a task: `{task_id, goal?, capability?, params?, output_schema?, key?, action?, keywords?, kind?, client?, private?,
 * samples?, max_cost_usd?, deadline_ms?}`. It has a goal, a capability, or both. Params need a capability.
 *
 * @param client the name of the asking client. If the task names a client too, that name is added after this one
 * @throws InvalidInputError naming fields at fault
 */
export async function readTask(value: unknown, client: string): Promise<Task> {
  const size = jsonSizeProblem(value);
  if (size !== undefined) throw new InvalidInputError({ issues: [{ field: "task", message: size }] });
  const parsed = taskSchema.safeParse(value);
  if (!parsed.success) throw invalidInputFromZod(parsed.error);
  const { task_id, goal, capability, params, output_schema, key, max_cost_usd, ...rest } = parsed.data;
  const issues: InputIssue[] = [];
  if (goal === undefined && capability === undefined)
    issues.push({ field: "goal", message: "is required without a capability" });
  if (params !== undefined && capability === undefined)
    issues.push({ field: "params", message: "need a capability, and the task names none" });
  if (output_schema !== undefined && capability !== undefined)
    issues.push({
      field: "output_schema",
      message: "must be absent: the capability already has an output schema",
    });
  if (issues.length > 0) throw new InvalidInputError({ issues });
  const outputSchema =
    capability === undefined
      ? output_schema && checkedSchema(output_schema)
      : await capabilitySchema(capability, params);
  const place = key ?? (outputSchema === undefined ? "answer" : undefined);
  if (place === undefined) requireKeys(outputSchema as JsonSchema);
  return {
    taskId: task_id,
    goal: goal ?? `Do what the capability ${capability} is for, with PARAMS.`,
    keywords: [...new Set(rest.keywords)],
    kind: rest.kind,
    // A client cannot act as another one: the name that a task gives is added after the client's own name.
    client: rest.client === undefined ? client : `${client}.${rest.client}`,
    isPrivate: rest.private,
    samples: rest.samples,
    deadlineMs: rest.deadline_ms,
    ...(capability !== undefined && { capability }),
    ...(params !== undefined && { params }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(place !== undefined && { key: place }),
    ...(rest.action !== undefined && { action: rest.action }),
    ...(max_cost_usd !== undefined && { maxCost: parseDollars(max_cost_usd, "max_cost_usd") }),
  };
}

/**
 * Refuses a stranger's schema that is not cheap to check: it must have no references, simple patterns and limited
 * depth.
 */
function checkedSchema(schema: { [keyword: string]: unknown }): JsonSchema {
  try {
    return readCustomSchemas("custom.dispatch.task", { input: {}, output: schema }).output;
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    const issues = error.issues.map(({ field, message }) => ({
      field: field.replace(/^schema\.output/, "output_schema"),
      message,
    }));
    throw new InvalidInputError({ code: "invalid_schema", issues });
  }
}

async function capabilitySchema(capability: string, params: unknown): Promise<JsonSchema> {
  const known = isCapability(capability) ? await capabilityOf(capability) : undefined;
  if (!known) {
    const message = "is no standard capability";
    throw new InvalidInputError({ code: "unknown_capability", issues: [{ field: "capability", message }] });
  }
  await checkInput(capability, params ?? {});
  return known.output;
}

/** Without `key` the answer's own keys become part of the shared state, so the schema must name them. */
function requireKeys(schema: JsonSchema): void {
  const refuse = (message: string): never => {
    throw new InvalidInputError({ issues: [{ field: "key", message }] });
  };
  const { type, properties } = schema;
  if (type !== "object" || properties === null || typeof properties !== "object")
    refuse("is required: the answer is no object with named properties");
  const bad = Object.keys(properties as object).find((name) => !stateKey.safeParse(name).success);
  if (bad !== undefined)
    refuse(`is required: no answer may write ${JSON.stringify(bad.slice(0, 64))} into the shared state`);
}

/** The answer in a change of the shared state that {@link dataUpdateOf} made. */
export function answerIn({ key }: Pick<Task, "key">, dataUpdate: { [key: string]: unknown }): unknown {
  return (key === undefined ? dataUpdate : dataUpdate[key]) ?? null;
}

/**
 * Makes the change of the shared state that the ledger stores for an answer. Without a `key`, the names in the answer
 * become the keys of the shared state. Names that the schema does not have are left out.
 */
export function dataUpdateOf(task: Task, answer: unknown): { [key: string]: unknown } {
  const action = task.action === undefined ? {} : { action: task.action };
  if (task.key !== undefined) return { ...action, [task.key]: answer };
  const names = Object.keys((task.outputSchema?.properties ?? {}) as object);
  const given = answer as { [key: string]: unknown };
  return {
    ...action,
    ...Object.fromEntries(names.filter((it) => Object.hasOwn(given, it)).map((it) => [it, given[it]])),
  };
}
