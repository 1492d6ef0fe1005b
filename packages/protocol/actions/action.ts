import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import * as z from "zod";
import { addressSchema } from "../address.ts";
import { priceUsdcSchema } from "../amount.ts";
import { InvalidInputError, invalidInputFromZod } from "../errors.ts";
import { toBareHex } from "../hex.ts";
import { canonicalBody, type RecordBody } from "../json/recordBody.ts";
import { pathComplaint } from "./canonicalPath.ts";
import { textComplaint } from "./plainText.ts";

/** The largest number of arguments of a program, and the largest length of one argument, in characters. */
const [MAX_ARGUMENTS, MAX_LENGTH] = [128, 4096];

const path = z.string().superRefine((value, context) => {
  const complaint = pathComplaint(value);
  if (complaint !== undefined) context.addIssue({ code: "custom", message: complaint });
});

const text = z
  .string()
  .max(MAX_LENGTH, `must have at most ${MAX_LENGTH} characters`)
  .superRefine((value, context) => {
    const complaint = textComplaint(value);
    if (complaint !== undefined) context.addIssue({ code: "custom", message: complaint });
  });

/** A program. */
export const programSchema = z
  .string()
  .regex(
    /^(?:[A-Za-z0-9][A-Za-z0-9._+-]{0,63}|\/[\x21-\x7e]+)$/,
    "must be one program: a name, or a path from the root, without arguments",
  )
  .superRefine((value, context) => {
    const complaint = value.startsWith("/") ? pathComplaint(value) : undefined;
    if (complaint !== undefined) context.addIssue({ code: "custom", message: complaint });
  });

/** A chain, as CAIP-2 writes it. */
export const networkSchema = z.string().regex(/^eip155:[1-9]\d{0,14}$/, "must be a chain like eip155:8453");

const size = z.int().min(0);
const digest = z.string().regex(/^[0-9a-f]{64}$/, "must be the SHA-256 of the content: 64 hex digits");

/**
 * What an agent asks permission for (swarm.at §8.1), in typed arguments. A program has its arguments one by one, and
 * is never a line for a shell. Paths begin at the root and have only one spelling. Amounts are decimal strings.
 * Nothing is unescaped, expanded or normalized. Another spelling is refused, so two spellings of one thing can never
 * get two verdicts.
 */
export const actionSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("terminal"),
    program: programSchema,
    args: z.array(text).max(MAX_ARGUMENTS),
    cwd: path,
    /** Variables set for this program, in addition to those it inherits. */
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,63}$/, "must be a variable's name"), text)
      .optional(),
  }),
  z.strictObject({
    type: z.literal("file_write"),
    path,
    mode: z.enum(["create", "overwrite", "append"]),
    bytes: size,
    sha256: digest,
  }),
  z.strictObject({ type: z.literal("deletion"), path, recursive: z.boolean() }),
  z.strictObject({
    type: z.literal("payment"),
    to: addressSchema,
    amount_usdc: priceUsdcSchema,
    network: networkSchema,
    token: addressSchema,
  }),
]);

export type Action = z.output<typeof actionSchema>;
export type ActionType = Action["type"];

/**
 * Reads an action.
 *
 * @throws InvalidInputError `invalid_action` naming every wrong field, prefixed with `action.`
 */
export function readAction(value: unknown): Action {
  const env = (value as { env?: object } | null | undefined)?.env;
  // A copy of an object can lose this key. Then the program would run with other variables than those that were judged.
  if (env !== null && typeof env === "object" && Object.hasOwn(env, "__proto__")) {
    const issues = [{ field: "action.env", message: "must not have __proto__" }];
    throw new InvalidInputError({ code: "invalid_action", issues });
  }
  const result = actionSchema.safeParse(value);
  if (!result.success) throw invalidInputFromZod(result.error, "action", "invalid_action");
  return result.data;
}

/** SHA-256 of the action in canonical JSON, 64 hex digits. A settlement token is valid for this hash only. */
export function actionHash(action: Action): string {
  const body = canonicalBody(action as unknown as RecordBody);
  return toBareHex(sha256(utf8ToBytes(`tallystick action v1\n${body}`)));
}
