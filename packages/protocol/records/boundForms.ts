import * as z from "zod";
import { invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { isUnbound } from "./binding.ts";
import { ledgerNameSchema } from "./ledgerName.ts";

/**
 * Makes the reader of a type's bodies, in both forms. With `type` and `ledger`, only the fields are allowed besides
 * these two keys. In the older form, which old ledgers have, unknown keys are kept. `checkBinding` checks which form
 * counts where, and whether `type` and `ledger` are the right ones.
 *
 * @param fields the type's own
 * @param before the fields of the older form, if they differ
 * @returns a function that gives the fields without `type` and `ledger`, and throws InvalidInputError naming
 * every wrong field, prefixed with `body.`
 */
export function boundForms<Fields extends z.ZodRawShape>(
  fields: Fields,
  before: z.ZodType = z.looseObject(fields),
): (body: RecordBody) => z.output<z.ZodObject<Fields>> {
  const bound = z.strictObject({ ...fields, type: z.string(), ledger: ledgerNameSchema });
  return (body) => {
    const result = (isUnbound(body) ? before : bound).safeParse(body);
    if (!result.success) throw invalidInputFromZod(result.error, "body");
    const { type: _type, ledger: _ledger, ...read } = result.data as { type?: unknown; ledger?: unknown };
    return read as z.output<z.ZodObject<Fields>>;
  };
}
