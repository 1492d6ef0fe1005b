import type { InputIssue } from "tallystick-protocol/errors";
import type { JsonSchema, SchemaType } from "./schemaType.ts";
import { type CapabilityFamily, type FamilyId, familyNamed } from "./taxonomy.ts";
import type { VerificationVersion } from "./versions.ts";

/** What a check sees. `parts` are the values of the placeholders in the capability's id. */
export type CheckContext<Input, Output> = {
  id: string;
  parts: { readonly [placeholder: string]: string };
  input: Input;
  output: Output;
  /** Computes something once for all checks of one verification, for example a decoded image. */
  once: <Value>(key: string, make: () => Value) => Value;
};

/** Returns what is wrong, or undefined. A check that throws has failed too. */
export type CheckFunction<Input, Output> = (
  context: CheckContext<Input, Output>,
) => string | undefined | Promise<string | undefined>;

/** A check. `since` is the first version of the verification that contains it. */
export type Check<Input, Output> = {
  since: VerificationVersion;
  test: CheckFunction<Input, Output>;
};

/** The definition of a standard capability (SHP §5.2). Its ids and versions stand in the taxonomy, under its family. */
export type CapabilityDefinition<Input extends JsonSchema, Output extends JsonSchema> = {
  /** The name of the family: `text.translate`. */
  id: FamilyId;
  /** One line for lists. */
  summary: string;
  input: Input;
  output: Output;
  /** Rules for the input that a schema cannot express. They are checked before anything is paid. */
  inputRules?: (input: SchemaType<Input>, parts: { readonly [placeholder: string]: string }) => InputIssue[];
  checks: { readonly [name: string]: Check<SchemaType<Input>, SchemaType<Output>> };
};

/** A standard capability as the rest of the code uses it. */
export type AnyCapability = CapabilityFamily & {
  summary: string;
  input: JsonSchema;
  output: JsonSchema;
  inputRules: (input: never, parts: { readonly [placeholder: string]: string }) => InputIssue[];
  checks: { readonly [name: string]: { since: VerificationVersion; test: CheckFunction<never, never> } };
};

/** Adds a definition to its family. The checks see values of the types that the definition's schemas give. */
export function defineCapability<const Input extends JsonSchema, const Output extends JsonSchema>(
  definition: CapabilityDefinition<Input, Output>,
): CapabilityDefinition<Input, Output> & AnyCapability {
  return { ...familyNamed(definition.id), inputRules: () => [], ...definition };
}
