import { readFileSync } from "node:fs";
import { actionName, DEFAULT_ACTION } from "tallystick-protocol/actions/actionName";
import { InvalidInputError, invalidInputFromZod, TallystickError } from "tallystick-protocol/errors";
import { JsonSyntaxError, type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { z } from "zod";
import type { ComparatorRule } from "./compareTexts.ts";
import { COMPARATORS, DEFAULT_OVERLAP } from "./textComparators.ts";

type PyObject = { [key: string]: PyJson };

const share = z.number().min(0, "must be from 0 to 1").max(1, "must be from 0 to 1");
const isNoAmount = { error: "must be a number, or a decimal string with at most 6 decimals" };
const amount = z.union([z.number(), z.string().regex(/^\d{1,15}(\.\d{1,6})?$/, isNoAmount)], isNoAmount);

const actionSchema = z.strictObject({
  /** False forbids the action. */
  allow: z.boolean().default(true),
  /** The largest value of each field in one proposal. */
  max: z.record(z.string(), amount).default({}),
  /** The largest sum of a field over the settled proposals of this action in the last `per_seconds`. */
  budget: z
    .array(z.strictObject({ field: z.string().min(1), max: amount, per_seconds: z.int().positive() }))
    .default([]),
  /** Whether a dispatcher has another model check every task with this action (docs/dispatch.md). */
  shadow: z.boolean().default(false),
});

const comparatorSchema = z
  .strictObject({
    /** Keys of `data_update` joined by dots; `*` for any. */
    path: z.string().min(1).max(256),
    comparator: z.enum(COMPARATORS),
    /** For `overlap/1`: the share of words that must be common to both. */
    overlap: share.optional(),
  })
  .refine(({ comparator, overlap }) => overlap === undefined || comparator === "overlap/1", {
    error: "is for overlap/1 only",
    path: ["overlap"],
  });

const rulesSchema = z.looseObject({
  version: z.int().nonnegative(),
  min_confidence: share.optional(),
  max_drift_allowed: share.optional(),
  types: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  comparators: z.array(comparatorSchema).max(64).default([]),
  actions: z
    .record(z.string(), actionSchema)
    .default({ [DEFAULT_ACTION]: { allow: false, max: {}, budget: [], shadow: false } })
    .superRefine((actions, context) => {
      const names = Object.keys(actions);
      if (!names.includes(DEFAULT_ACTION)) {
        const message = 'must say what becomes of other actions: "*": {"allow": false}';
        context.addIssue({ code: "custom", message, path: [DEFAULT_ACTION] });
      }
      for (const name of names) {
        if (names.find((other) => actionName(other) === actionName(name)) === name) continue;
        context.addIssue({ code: "custom", message: "is already here in another spelling", path: [name] });
      }
    }),
});

/** What an action may do. Amounts are millionths. */
export type ActionRule = {
  allow: boolean;
  max: Map<string, bigint>;
  budget: { field: string; max: bigint; perSeconds: number }[];
};

/** The institutional rules (swarm.at §2, §4.3): in a file that no agent can change. */
export type InstitutionalRules = {
  version: number;
  minConfidence: number;
  maxDriftAllowed: number;
  /** The JSON Schema of a `data_update` of a type; `*` for every type. */
  types: Map<string, z.ZodType>;
  /** What actions may do, by {@link actionName}; `*` for actions without a rule of their own. */
  actions: Map<string, ActionRule>;
  /**
   * The comparators for free text of a shadow, in the order of the file. The first one that matches a path
   * counts.
   */
  comparators: ComparatorRule[];
  /** The whole file. Agents read slices of it. */
  slices: PyObject;
};

/** Thresholds for a file without them, and for a service without a file. */
export type RuleDefaults = { minConfidence: number; maxDriftAllowed: number };

/** The rules of a service that has no file. */
export function defaultRules({ minConfidence, maxDriftAllowed }: RuleDefaults): InstitutionalRules {
  return parseRules({ version: 0n }, { minConfidence, maxDriftAllowed });
}

/**
 * Reads the rules from a file.
 *
 * @throws InvalidInputError `invalid_rules` naming the field; TallystickError `unreadable_file`
 */
export function readRules(file: string, defaults: RuleDefaults): InstitutionalRules {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    const message = `The rules in ${file} cannot be read: ${(cause as Error).message}`;
    throw new TallystickError({
      code: "unreadable_file",
      message,
      hint: "Set RULES_FILE to a JSON file.",
      cause,
    });
  }
  try {
    // A second "actions" key further down would silently replace the first.
    return parseRules(parsePythonJson(text, { duplicateKeys: "refuse" }), defaults);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw invalid("RULES_FILE", `is no JSON: ${error.message}`);
  }
}

/**
 * Reads the rules out of parsed JSON: `{version, min_confidence?, max_drift_allowed?, types?: {type: JSON Schema},
 * actions?: {action: {allow?, max?: {field: amount}, budget?: [{field, max, per_seconds}], shadow?}}, comparators?: [{path,
 * comparator, overlap?}], …}`. Every other key is
 * text for agents.
 *
 * @throws InvalidInputError `invalid_rules` naming every field at fault
 */
export function parseRules(value: PyJson, defaults: RuleDefaults): InstitutionalRules {
  const parsed = rulesSchema.safeParse(toPlainJson(value));
  if (!parsed.success) throw invalidInputFromZod(parsed.error, "rules", "invalid_rules");
  const { version, types, actions } = parsed.data;
  const minConfidence = parsed.data.min_confidence ?? defaults.minConfidence;
  const maxDriftAllowed = parsed.data.max_drift_allowed ?? defaults.maxDriftAllowed;
  return {
    version,
    minConfidence,
    maxDriftAllowed,
    types: new Map(Object.entries(types).map(([type, schema]) => [type, readSchema(type, schema)])),
    actions: new Map(Object.entries(actions).map(([action, rule]) => [actionName(action), readAction(rule)])),
    comparators: parsed.data.comparators.map(({ path, comparator, overlap }) => ({
      path: path.split("."),
      comparator,
      overlap: overlap === undefined ? DEFAULT_OVERLAP : Math.round(overlap * 1_000),
    })),
    slices: {
      ...(value as PyObject),
      min_confidence: minConfidence,
      max_drift_allowed: maxDriftAllowed,
    },
  };
}

function readSchema(type: string, schema: { [key: string]: unknown }): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch (error) {
    throw invalid(
      `rules.types.${type}`,
      `is not a JSON Schema that this service understands: ${(error as Error).message}`,
    );
  }
}

function readAction(rule: z.output<typeof actionSchema>): ActionRule {
  return {
    allow: rule.allow,
    max: new Map(Object.entries(rule.max).map(([field, max]) => [field, millionths(max) ?? 0n])),
    budget: rule.budget.map(({ field, max, per_seconds }) => ({
      field,
      max: millionths(max) ?? 0n,
      perSeconds: per_seconds,
    })),
  };
}

/**
 * A quantity in millionths, from an int, a decimal string or a float. A float is rounded up, so that rounding
 * never brings it below a limit. Undefined for anything else and for negative quantities.
 */
export function millionths(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value < 0n ? undefined : value * 1_000_000n;
  if (typeof value === "string") {
    const match = /^(\d{1,30})(?:\.(\d{1,6}))?$/.exec(value);
    return match ? BigInt((match[1] as string) + (match[2] ?? "").padEnd(6, "0")) : undefined;
  }
  if (typeof value !== "number" || !(value >= 0) || value > 1e15) return undefined;
  return BigInt(Math.ceil(value * 1_000_000 - 1e-6));
}

/** The value with Python's ints as JavaScript numbers. That is exact enough for schemas and thresholds. */
export function toPlainJson(value: PyJson): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(toPlainJson);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toPlainJson(inner)]));
}

function invalid(field: string, message: string): InvalidInputError {
  return new InvalidInputError({ code: "invalid_rules", issues: [{ field, message }] });
}
