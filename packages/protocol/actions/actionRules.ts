import * as z from "zod";
import { addressSchema } from "../address.ts";
import { priceUsdcSchema } from "../amount.ts";
import { invalidInputFromZod } from "../errors.ts";
import { networkSchema, programSchema } from "./action.ts";
import { pathComplaint } from "./canonicalPath.ts";
import { textComplaint } from "./plainText.ts";
import { type ArgumentValues, runnerComplaint } from "./runnerComplaint.ts";

const path = z.string().superRefine((value, context) => {
  const complaint = pathComplaint(value);
  if (complaint !== undefined) context.addIssue({ code: "custom", message: complaint });
});
const literal = z
  .string()
  .max(4096)
  .superRefine((value, context) => {
    const complaint = textComplaint(value);
    if (complaint !== undefined) context.addIssue({ code: "custom", message: complaint });
  });

/**
 * The rule for one argument. There are five forms, and none of them is a pattern or allows every text. A string allows
 * exactly itself. `one_of` allows one value of a list. `within` allows a path in a folder. `integer` allows a whole
 * number in decimal digits. `text` allows words without any character that a shell interprets. Such a text must not
 * begin with `-`, `=`, `@` or `%`.
 */
const argument = z.union([
  literal,
  z.strictObject({ one_of: z.array(literal).min(1) }),
  z.strictObject({ within: path }),
  z.strictObject({ integer: z.strictObject({ min: z.int(), max: z.int() }) }),
  z.strictObject({ text: z.strictObject({ max_length: z.int().min(1).max(4096) }) }),
]);

const common = {
  /** The rule's name in answers and tokens. */
  id: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, "must be lower-case letters, digits and dashes"),
  /** True: the rule allows the actions that it matches. False: it forbids them, even if another rule allows them. */
  allow: z.boolean(),
  reason: z.string().max(300).optional(),
};

/**
 * Each rule is about one kind of action. With `allow: true`, a rule matches only exact spellings. With `allow: false`,
 * it also matches other spellings: other case, accents, look-alike letters, another path to the program.
 */
export const actionRuleSchema = z.discriminatedUnion("type", [
  z.strictObject({
    ...common,
    type: z.literal("terminal"),
    program: programSchema,
    /**
     * The arguments one by one. With `allow: false` they may be left out. Then the rule forbids the program with any
     * arguments. With `allow: false` the rule ignores `rest`, `cwd` and `env`.
     */
    args: z.array(argument).optional(),
    /** The form of each argument after `args`, and how many such arguments there may be. */
    rest: z.strictObject({ each: argument, max: z.int().min(1).max(128) }).optional(),
    /**
     * The folder in which the program may run: exactly this folder, or any folder within it. It matters because
     * many programs read scripts from the folder in which they run.
     */
    cwd: z.union([path, z.strictObject({ within: path })]).optional(),
    /** Variables that may be set, with their values. */
    env: z.record(z.string(), literal).optional(),
  }),
  z.strictObject({
    ...common,
    type: z.literal("file_write"),
    path: z.strictObject({ within: path }),
    modes: z
      .array(z.enum(["create", "overwrite", "append"]))
      .min(1)
      .optional(),
    max_bytes: z.int().min(0).optional(),
    /** The endings of file names to which the rule applies, with their dot: `.md`. */
    endings: z
      .array(z.string().regex(/^\.[A-Za-z0-9]{1,16}$/))
      .min(1)
      .optional(),
  }),
  z.strictObject({
    ...common,
    type: z.literal("deletion"),
    path: z.strictObject({ within: path }),
    /**
     * With `allow: true`: whether the rule also allows to delete whole folders. Default: no. With `allow: false`:
     * `true` forbids only to delete whole folders. `false` forbids only other deletions. Default: both are forbidden.
     */
    recursive: z.boolean().optional(),
  }),
  z.strictObject({
    ...common,
    type: z.literal("payment"),
    to: z.array(addressSchema).min(1).optional(),
    max_usdc: priceUsdcSchema.optional(),
    network: networkSchema.optional(),
    token: addressSchema.optional(),
  }),
]);

export type ActionRule = z.output<typeof actionRuleSchema>;
export type ArgumentRule = z.output<typeof argument>;

/** All rules. An action that no rule allows is denied. */
export type ActionRules = { version: number; rules: ActionRule[] };

const rulesSchema = z
  .strictObject({ version: z.int().min(0), rules: z.array(actionRuleSchema).max(1000) })
  .superRefine(({ rules }, context) => {
    const ids = new Set<string>();
    for (const [at, rule] of rules.entries()) {
      const complaint = ids.has(rule.id) ? "must be unique" : looseness(rule);
      if (complaint !== undefined) {
        context.addIssue({ code: "custom", message: complaint, path: ["rules", at, "id"] });
      }
      ids.add(rule.id);
    }
  });

/** Why a rule allows too much; undefined when it does not. */
function looseness(rule: ActionRule): string | undefined {
  if (!rule.allow) return undefined;
  if (rule.type === "terminal") {
    if (rule.args === undefined) return "must list the arguments it allows";
    if (rule.cwd === undefined) return "must say in which folder the program may run (cwd)";
    if ([rule.cwd, ...rule.args, rule.rest?.each].some(isWholeFileSystem))
      return "must not allow the whole file system";
    const isWrittenOut = rule.rest === undefined && rule.args.every(isLiteral);
    const values = [...rule.args, ...(rule.rest ? [rule.rest.each] : [])].map(valuesOf);
    const complaint = isWrittenOut ? undefined : runnerComplaint(rule.program, values);
    if (complaint !== undefined) return `must write out every argument, because ${complaint}`;
  }
  if (rule.type === "payment" && [rule.to, rule.max_usdc, rule.token, rule.network].includes(undefined)) {
    return "must name who may be paid, how much, in which token and on which network";
  }
  if ((rule.type === "deletion" || rule.type === "file_write") && rule.path.within === "/") {
    return "must not allow the whole file system";
  }
  return undefined;
}

function valuesOf(rule: ArgumentRule): ArgumentValues {
  if (typeof rule === "string") return [rule];
  if ("one_of" in rule) return rule.one_of;
  return "text" in rule ? "text" : "other";
}

/** Whether the rule itself contains every value that the argument may have. */
function isLiteral(rule: ArgumentRule): boolean {
  return typeof rule === "string" || "one_of" in rule;
}

function isWholeFileSystem(rule: ArgumentRule | undefined): boolean {
  return typeof rule === "object" && "within" in rule && rule.within === "/";
}

/** No rules: everything is denied. */
export const NO_ACTION_RULES: ActionRules = { version: 0, rules: [] };

/**
 * Reads the rules.
 *
 * @throws InvalidInputError `invalid_rules` naming every wrong field, prefixed with `action_rules.`
 */
export function readActionRules(value: unknown): ActionRules {
  const result = rulesSchema.safeParse(value);
  if (!result.success) throw invalidInputFromZod(result.error, "action_rules", "invalid_rules");
  return result.data;
}
