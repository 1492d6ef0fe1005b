import { capabilityOf } from "../../protocol/capabilities/capabilityOf.ts";
import { checkInput } from "../../protocol/capabilities/checkInput.ts";
import type { JsonSchema } from "../../protocol/capabilities/schemaType.ts";
import { validateJson } from "../../protocol/capabilities/validateJson.ts";
import type { Verification } from "../../protocol/capabilities/verification.ts";
import { verifyOutput } from "../../protocol/capabilities/verifyOutput.ts";
import { isCustomCapability } from "../../protocol/capability.ts";
import { InvalidInputError } from "../../protocol/errors.ts";
import type { Listing } from "../../protocol/records/listing.ts";

/** The schemas of capabilities outside of the standard, which their seller publishes (SHP §5.2). */
export type CustomSchemas = { [capability: string]: { input: JsonSchema; output: JsonSchema } };

/** What is published about a capability. */
export type CapabilitySchema = {
  capability: string;
  input: JsonSchema;
  output: JsonSchema;
  versions: string[];
};

/** Inputs and outputs of what a seller offers: the standard's rules, or its own schemas for `custom.*`. */
export function capabilityRules(custom: CustomSchemas) {
  const schemaOf = (capability: string): CapabilitySchema | undefined => {
    const own =
      isCustomCapability(capability) && Object.hasOwn(custom, capability) ? custom[capability] : undefined;
    if (own) return { capability, input: own.input, output: own.output, versions: [] };
    const standard = capabilityOf(capability);
    if (!standard) return undefined;
    const { input, output, versions } = standard;
    return { capability, input, output, versions: versions.map(({ version }) => version) };
  };

  return {
    isKnown: (capability: string) => schemaOf(capability) !== undefined,
    schemaOf,
    list: (listings: Listing[]) =>
      [...new Set(listings.map(({ capability }) => capability))].map((capability) => ({
        capability,
        schema: `capabilities/${capability}/schema`,
      })),

    /** @throws InvalidInputError `invalid_params` */
    checkParams: (capability: string, params: unknown): void => {
      if (!isCustomCapability(capability)) {
        checkInput(capability, params);
        return;
      }
      const schema = schemaOf(capability);
      const issues = schema ? validateJson(schema.input, params, "params") : [];
      if (issues.length > 0) throw new InvalidInputError({ code: "invalid_params", issues });
    },

    /** The seller's own check of its result, which its receipt carries. */
    verify: async (
      { capability, params, result }: { capability: string; params: unknown; result?: unknown },
      version?: string,
    ): Promise<Verification> => {
      if (!isCustomCapability(capability)) return await verifyOutput(capability, params, result, version);
      const schema = schemaOf(capability);
      const [issue] = schema ? validateJson(schema.output, result, "output") : [];
      const details = issue && { matches_schema: `${issue.field}: ${issue.message}` };
      const passed = issue === undefined;
      return { all_passed: passed, checks: { matches_schema: passed }, details: { ...details } };
    },
  };
}
