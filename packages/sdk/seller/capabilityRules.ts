import { capabilityOf } from "tallystick-capabilities/capabilityOf";
import { checkInput } from "tallystick-capabilities/checkInput";
import type { JsonSchema } from "tallystick-capabilities/schemaType";
import { findFamily } from "tallystick-capabilities/taxonomy";
import { validateJson } from "tallystick-capabilities/validateJson";
import type { Verification } from "tallystick-capabilities/verification";
import { verifyOutput } from "tallystick-capabilities/verifyOutput";
import { isCustomCapability } from "tallystick-protocol/capability";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Listing } from "tallystick-protocol/records/listing";

/** The schemas of `custom.*` capabilities, which their seller publishes (SHP §5.2). */
export type CustomSchemas = { [capability: string]: { input: JsonSchema; output: JsonSchema } };

/** The published schemas of a capability. */
export type CapabilitySchema = {
  capability: string;
  input: JsonSchema;
  output: JsonSchema;
  versions: string[];
};

/**
 * Checks the inputs and outputs of what a seller offers: by the standard's rules, or by the seller's own
 * schemas for `custom.*`.
 */
export function capabilityRules(custom: CustomSchemas) {
  const ownOf = (capability: string) =>
    isCustomCapability(capability) && Object.hasOwn(custom, capability) ? custom[capability] : undefined;
  const schemaOf = async (capability: string): Promise<CapabilitySchema | undefined> => {
    const own = ownOf(capability);
    if (own) return { capability, input: own.input, output: own.output, versions: [] };
    const standard = await capabilityOf(capability);
    if (!standard) return undefined;
    const { input, output, versions } = standard;
    return { capability, input, output, versions: versions.map(({ version }) => version) };
  };

  return {
    isKnown: (capability: string): boolean => (ownOf(capability) ?? findFamily(capability)) !== undefined,
    schemaOf,
    list: (listings: Listing[]) =>
      [...new Set(listings.map(({ capability }) => capability))].map((capability) => ({
        capability,
        schema: `capabilities/${capability}/schema`,
      })),

    /** @throws InvalidInputError `invalid_params` */
    checkParams: async (capability: string, params: unknown): Promise<void> => {
      if (!isCustomCapability(capability)) return await checkInput(capability, params);
      const schema = ownOf(capability);
      const issues = schema ? validateJson(schema.input, params, "params") : [];
      if (issues.length > 0) throw new InvalidInputError({ code: "invalid_params", issues });
    },

    /** The seller's own check of its result. The receipt contains its outcome. */
    verify: async (
      { capability, params, result }: { capability: string; params: unknown; result?: unknown },
      version?: string,
    ): Promise<Verification> => {
      if (!isCustomCapability(capability)) return await verifyOutput(capability, params, result, version);
      const schema = ownOf(capability);
      const [issue] = schema ? validateJson(schema.output, result, "output") : [];
      const details = issue && { matches_schema: `${issue.field}: ${issue.message}` };
      const passed = issue === undefined;
      return { all_passed: passed, checks: { matches_schema: passed }, details: { ...details } };
    },
  };
}
