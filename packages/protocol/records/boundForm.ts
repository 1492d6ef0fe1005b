import * as z from "zod";
import { invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { ledgerNameSchema } from "./ledgerName.ts";

/**
 * Makes a function that reads the bodies of a type of record. The type has only the bound form: a body has `type`,
 * `ledger` and the fields, and no other key. `checkBinding` checks the values of `type` and `ledger`.
 *
 * @param fields the type's own fields
 * @returns a function that gives the fields without `type` and `ledger`. It throws InvalidInputError naming every wrong
 * field, prefixed with `body.`
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
