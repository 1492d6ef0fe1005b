import * as z from "zod";
import { invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { ledgerNameSchema } from "./ledgerName.ts";

/**
 * Makes the reader of a type's bodies that always had the bound form: `type`, `ledger` and the fields, and no other key.
 * `checkBinding` checks whether `type` and `ledger` are the right ones.
 *
 * @param fields the type's own
 * @returns a function that gives the fields without `type` and `ledger`, and throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function boundForm<Fields extends z.ZodRawShape>(
  fields: Fields,
): (body: RecordBody) => z.output<z.ZodObject<Fields>> {
  const bound = z.strictObject({ ...fields, type: z.string(), ledger: ledgerNameSchema });
  return (body) => {
    const result = bound.safeParse(body);
    if (!result.success) throw invalidInputFromZod(result.error, "body");
    const { type: _type, ledger: _ledger, ...read } = result.data as { type?: unknown; ledger?: unknown };
    return read as z.output<z.ZodObject<Fields>>;
  };
}
