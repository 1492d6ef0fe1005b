import * as z from "zod";
import { type Address, addressSchema } from "../address.ts";
import { InvalidInputError, invalidInputFromZod } from "../errors.ts";
import { tryForeignJson } from "../json/foreignJson.ts";
import { auditedHireSchema } from "../records/auditedHireSchema.ts";
import { MAX_AUDIT_ATTEMPTS, MAX_AUDIT_ROUNDS } from "../records/auditVerdict.ts";
import { signatureSchema } from "../records/nestedSignature.ts";
import { type RecordSigner, recoverBodySigner, signBody } from "../records/record.ts";

/** The header in which an auditor asks for the work it has to judge. Its value is JSON on one line. */
export const DISCLOSURE_HEADER = "X-Audit-Request";

/** The greatest difference between the clocks of the auditor and of the agent that it asks, in seconds. */
export const DISCLOSURE_TOLERANCE_SECONDS = 60;

/** The longest value of the header, in characters. */
export const MAX_DISCLOSURE_HEADER = 1_024;

/** The type in the signed body, so that no other signature of an auditor can be used as a request. */
const TYPE = "audit_disclosure";

const assignmentSchema = z
  .string()
  .max(128)
  .regex(/^0x[0-9a-f]{64}(?:-[0-9]{1,9})?\/[1-9][0-9]?\/[1-9][0-9]?$/, "must be <hire>/<round>/<attempt>")
  .refine((text) => {
    const [, round, attempt] = text.split("/").map(Number);
    return Number(round) <= MAX_AUDIT_ROUNDS && Number(attempt) <= MAX_AUDIT_ATTEMPTS;
  }, "has a round or an attempt above the limit");

const requestSchema = z.strictObject({
  assignment: assignmentSchema,
  hire: auditedHireSchema,
  seller: addressSchema,
  time: z.int().nonnegative(),
});

/** `assignment` is `<hire>/<round>/<attempt>`, as nodes name it. `time` is in unix seconds. */
export type DisclosureRequest = z.infer<typeof requestSchema>;

const headerSchema = requestSchema.extend({ signature: signatureSchema });

/** An assignment's name, as nodes write it. */
export function assignmentName({
  hire,
  round,
  attempt,
}: {
  hire: string;
  round: number;
  attempt: number;
}): string {
  return `${hire}/${round}/${attempt}`;
}

/**
 * Makes the value of {@link DISCLOSURE_HEADER}, with which an assigned auditor asks the hire's seller or buyer for the
 * work. The auditor signs the request as EIP-191, like a record (SHP §8.3.1).
 *
 * @throws InvalidInputError
 */
export async function signDisclosureRequest(request: DisclosureRequest, by: RecordSigner): Promise<string> {
  const read = requestSchema.safeParse(request);
  if (!read.success) throw invalidInputFromZod(read.error);
  const signature = await signBody({ ...read.data, type: TYPE }, by);
  return JSON.stringify({ ...read.data, signature });
}

/** A request as it came, before its signature was checked. */
export type ReadDisclosureRequest = {
  request: DisclosureRequest;
  /** Recovers who signed the request. This is slow, so do cheaper checks first. @throws InvalidInputError */
  signer: () => Address;
};

/**
 * Reads the header. It does not check the signature: call `signer` for this.
 *
 * @param expected `hire`: the hire in the path of the request; `now`: unix seconds by the clock of the agent that is
 * asked
 * @throws InvalidInputError naming the field; `stale_request` when `time` differs too much from `now`
 */
export function readDisclosureRequest(
  header: string,
  { hire, now }: { hire: string; now: number },
): ReadDisclosureRequest {
  const value = header.length > MAX_DISCLOSURE_HEADER ? undefined : tryForeignJson(header);
  const read = headerSchema.safeParse(value);
  if (!read.success) throw invalidInputFromZod(read.error, DISCLOSURE_HEADER);
  const { signature, ...request } = read.data;
  if (request.hire !== hire || !request.assignment.startsWith(`${hire}/`))
    throw refused("hire", `must be ${hire}`);
  if (Math.abs(now - request.time) > DISCLOSURE_TOLERANCE_SECONDS) {
    throw refused(
      "time",
      `differs by ${Math.abs(now - request.time)} seconds from this clock`,
      "stale_request",
    );
  }
  return {
    request,
    signer: () => recoverBodySigner({ ...request, type: TYPE }, signature, `${DISCLOSURE_HEADER}.signature`),
  };
}

function refused(field: string, message: string, code?: string): InvalidInputError {
  const issues = [{ field: `${DISCLOSURE_HEADER}.${field}`, message }];
  return new InvalidInputError({ issues, ...(code !== undefined && { code }) });
}
