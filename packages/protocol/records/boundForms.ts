import * as z from "zod";
import { invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { isUnbound } from "./binding.ts";
import { ledgerNameSchema } from "./ledgerName.ts";

/**
 * Makes a function that reads the bodies of a type of record, in two forms. The bound form has `type`, `ledger` and
 * the fields, and no other key. The older form is in old ledgers: it has neither `type` nor `ledger`, and unknown keys
 * are kept. `checkBinding` refuses the older form where it is not allowed, and checks the values of `type` and
 * `ledger`.
 *
 * @param fields the type's own fields
 * @param before the schema of the older form, if its fields differ
 * @returns a function that gives the fields without `type` and `ledger`. It throws InvalidInputError naming every wrong
 * field, prefixed with `body.`
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
