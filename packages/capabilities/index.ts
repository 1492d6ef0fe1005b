/** What can be hired: ids, schemas with their types, and the verification of results. */
export { type FoundCapability, requireCapability } from "./capabilityOf.ts";
export type { CapabilityInput, CapabilityOutput, CapabilityTypes } from "./capabilityTypes.ts";
export { checkInput } from "./checkInput.ts";
export {
  type CustomSchemas,
  checkCustomInput,
  readCustomSchemas,
  verifyCustomOutput,
} from "./customCapability.ts";
export type { AnyCapability } from "./defineCapability.ts";
export type { JsonSchema, SchemaType } from "./schemaType.ts";
export { type CapabilityFamily, capabilityProblem, findFamily, taxonomy } from "./taxonomy.ts";
export type { Verification, WireVerification } from "./verification.ts";
export { verifyOutput } from "./verifyOutput.ts";
export {
  currentVersion,
  minVerificationVersion,
  type VerificationVersion,
  type VersionStatus,
  versionStatus,
} from "./versions.ts";
