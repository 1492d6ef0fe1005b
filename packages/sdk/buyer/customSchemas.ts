import {
  type CustomSchemas,
  checkCustomInput,
  readCustomSchemas,
} from "tallystick-capabilities/customCapability";
import { isCustomCapability } from "tallystick-protocol/capability";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { SellerSchemaError } from "../errors.ts";
import type { SellerClientRequest } from "./sellerClient.ts";

/** How long a seller may take to send its schemas, in milliseconds. */
const SCHEMA_MS = 5_000;

/**
 * The schemas that the seller of a `custom.*` capability publishes at `ENDPOINT/capabilities/ID/schema` (SHP §5.2).
 * The params are checked against them before anything is signed. The result is checked afterwards, unless the
 * caller judges it itself. Returns undefined for a standard capability.
 *
 * @param hasOwnCheck the caller judges the result, so missing schemas are no error
 * @throws SellerSchemaError `invalid_params` naming every wrong field
 * @throws TallystickError `schema_unavailable` when the seller publishes none that can be used
 */
export async function schemasFor(
  ask: SellerClientRequest,
  capability: string,
  params: unknown,
  hasOwnCheck: boolean,
): Promise<CustomSchemas | undefined> {
  if (!isCustomCapability(capability)) return undefined;
  const schemas = await fetchSchemas(ask, capability).catch((cause: unknown) => {
    if (hasOwnCheck) return undefined;
    throw new TallystickError({
      code: "schema_unavailable",
      message: `The seller's schema of ${capability} is not available: ${reasonOf(cause)}`,
      hint: "Give `verify` to judge the result yourself, or hire another seller.",
      cause,
    });
  });
  if (schemas) checkParams(schemas, params);
  return schemas;
}

/** The reason in our own words, because the error about a bad schema quotes the stranger's schema. */
function reasonOf(cause: unknown): string {
  if (cause instanceof InvalidInputError) return "it cannot be used";
  return cause instanceof Error ? cause.message : String(cause);
}

function checkParams(schemas: CustomSchemas, params: unknown): void {
  try {
    checkCustomInput(schemas, params);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    throw new SellerSchemaError({ code: "invalid_params", issues: error.issues });
  }
}

async function fetchSchemas(ask: SellerClientRequest, capability: string): Promise<CustomSchemas> {
  const { status, body } = await ask(`/capabilities/${capability}/schema`, SCHEMA_MS);
  if (status !== 200) throw new Error(`it answered ${status}`);
  return readCustomSchemas(capability, body);
}
