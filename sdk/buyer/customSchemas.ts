import {
  type CustomSchemas,
  checkCustomInput,
  readCustomSchemas,
  verifyCustomOutput,
} from "../../protocol/capabilities/customCapability.ts";
import { isCustomCapability } from "../../protocol/capability.ts";
import { TallystickError } from "../../protocol/errors.ts";
import type { SellerClientRequest } from "./sellerClient.ts";
import type { Verify } from "./verifyResult.ts";

/** How long a seller may take to say what it takes and gives, in milliseconds. */
const SCHEMA_MS = 5_000;

/**
 * Holds a `custom.*` hire to the schemas that its seller publishes at `ENDPOINT/capabilities/ID/schema` (SHP §5.2): the
 * params before anything is signed, the result afterwards unless the caller judges it itself. Nothing happens for
 * standard capabilities.
 *
 * @throws InvalidInputError `invalid_params` naming every field at fault
 * @throws TallystickError `schema_unavailable` when the seller publishes none that is fit for use, and the caller has no
 * check of its own either
 */
export async function customVerify(
  ask: SellerClientRequest,
  capability: string,
  params: unknown,
  verify: Verify | undefined,
): Promise<Verify | undefined> {
  if (!isCustomCapability(capability)) return verify;
  const schemas = await fetchSchemas(ask, capability).catch((cause: unknown) => {
    if (verify) return undefined;
    throw new TallystickError({
      code: "schema_unavailable",
      message: `The seller's schema of ${capability} is not to be had: ${cause instanceof Error ? cause.message : cause}`,
      hint: "Give `verify` to judge the result yourself, or hire another seller.",
      cause,
    });
  });
  if (!schemas) return verify;
  checkCustomInput(schemas, params);
  return verify ?? ((_params, result) => verifyCustomOutput(schemas, result));
}

async function fetchSchemas(ask: SellerClientRequest, capability: string): Promise<CustomSchemas> {
  const { status, body } = await ask(`/capabilities/${capability}/schema`, SCHEMA_MS);
  if (status !== 200) throw new Error(`it answered ${status}`);
  return readCustomSchemas(capability, body);
}
