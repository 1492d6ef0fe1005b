import { InvalidArgumentError } from "commander";
import { z } from "zod";

/** Makes an option's parser from a schema. A wrong value is a usage error that names the option. */
export function parseOption<T>(name: string, schema: z.ZodType<T>): (text: string) => T {
  return (text) => {
    const result = schema.safeParse(text);
    if (result.success) return result.data;
    throw new InvalidArgumentError(`${name} ${result.error.issues.map((it) => it.message).join(", ")}.`);
  };
}

const digits = z
  .string()
  .regex(/^\d{1,15}$/, "must be a whole number")
  .transform(Number);

/** The parser of an option that is a whole number. */
export function wholeNumber(name: string): (text: string) => number {
  return parseOption(name, digits);
}

const port = z
  .string()
  .regex(/^\d{1,5}$/, "must be a port")
  .transform(Number)
  .refine((it) => it > 0 && it < 65_536, "must be from 1 to 65535");

/** The parser of an option that is a port. */
export function portNumber(name: string): (text: string) => number {
  return parseOption(name, port);
}

const decimal = z
  .string()
  .regex(/^\d{1,15}(\.\d{1,15})?$/, 'must be a number like "0.95"')
  .transform(Number);

/** The parser of an option that is a number, possibly with a decimal point. */
export function decimalNumber(name: string): (text: string) => number {
  return parseOption(name, decimal);
}
