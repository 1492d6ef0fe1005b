import type { InputIssue } from "../errors.ts";
import type { JsonSchema, SchemaType } from "./schemaType.ts";

/** A revision of a capability's verification function: `v0` is permissive, each later one stricter (SHP §8.2). */
export type VerificationVersion = `v${number}`;

/** What a check sees. `parts` are the values of the placeholders in the capability's id. */
export type CheckContext<Input, Output> = {
  id: string;
  parts: { readonly [placeholder: string]: string };
  input: Input;
  output: Output;
  /** Computes something once for all checks of one verification: decoding an image, say. */
  once: <Value>(key: string, make: () => Value) => Value;
};

/** Says what is wrong, or nothing. One that throws has found something wrong as well. */
export type CheckFunction<Input, Output> = (
  context: CheckContext<Input, Output>,
) => string | undefined | Promise<string | undefined>;

/** A named check, and the first version of the verification function it belongs to. */
export type Check<Input, Output> = {
  since: VerificationVersion;
  test: CheckFunction<Input, Output>;
};

/** A version's name and when it was published, in unix seconds; it applies until 90 days after the next one. */
export type PublishedVersion = { version: VerificationVersion; publishedAt: number };

/** The definition of a standard capability (SHP §5.2). */
export type CapabilityDefinition<Input extends JsonSchema, Output extends JsonSchema> = {
  /** The name of the family: `text.translate`. */
  id: string;
  /** The ids that belong to it; `{name}` stands for one segment. */
  patterns: readonly string[];
  /** The values that a placeholder may have; any segment when it is not listed. */
  values?: { readonly [placeholder: string]: readonly string[] };
  /** One line for lists. */
  summary: string;
  input: Input;
  output: Output;
  /** What a schema cannot say about the input; checked before anything is paid. */
  inputRules?: (input: SchemaType<Input>, parts: { readonly [placeholder: string]: string }) => InputIssue[];
  versions?: readonly PublishedVersion[];
  checks: { readonly [name: string]: Check<SchemaType<Input>, SchemaType<Output>> };
};

/** A standard capability as the rest of the code uses it. */
export type AnyCapability = {
  id: string;
  patterns: readonly string[];
  values: { readonly [placeholder: string]: readonly string[] };
  summary: string;
  input: JsonSchema;
  output: JsonSchema;
  inputRules: (input: never, parts: { readonly [placeholder: string]: string }) => InputIssue[];
  versions: readonly PublishedVersion[];
  checks: { readonly [name: string]: { since: VerificationVersion; test: CheckFunction<never, never> } };
};

/** Both versions that the standard capabilities have so far; the second was published on 2026-11-20. */
const VERSIONS: readonly PublishedVersion[] = [
  { version: "v0", publishedAt: 0 },
  { version: "v1", publishedAt: 1_795_132_800 },
];

/** Fills in the defaults of a definition; its schemas give the types that its checks see. */
export function defineCapability<const Input extends JsonSchema, const Output extends JsonSchema>(
  definition: CapabilityDefinition<Input, Output>,
): CapabilityDefinition<Input, Output> & AnyCapability {
  return { values: {}, inputRules: () => [], versions: VERSIONS, ...definition };
}
