import { readFileSync } from "node:fs";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type PolicyWitness, parseTrustPolicy, type TrustPolicy } from "tallystick-protocol/note/trustPolicy";

/** A witness that can be asked. */
export type LedgerWitness = PolicyWitness & { url: string };

/** The witnesses that cosign the ledger's checkpoints. */
export type WitnessingConfig = {
  policy: TrustPolicy;
  witnesses: readonly LedgerWitness[];
  /** Whether an anchor needs the quorum's cosignatures. */
  required: boolean;
};

const LOOPBACK = /^(localhost|127(\.[0-9]+){3}|\[::1\])$/;

/**
 * Reads the witnesses of a ledger out of a policy in C2SP's form.
 *
 * @param options.devMode whether every witness may be asked without TLS. Otherwise only a witness on this machine may
 * @throws InvalidInputError naming `WITNESS_POLICY`
 */
export function readWitnessing(
  file: string,
  { required, devMode, origin }: { required: boolean; devMode: boolean; origin: string },
): WitnessingConfig {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    return refuse(`cannot be read: ${(cause as Error).message}`);
  }
  const policy = parseTrustPolicy(text, "WITNESS_POLICY");
  if (policy.logs.length > 0 && policy.logs.every(({ key }) => key.name !== origin))
    refuse(`has logs, but not this one, ${origin}`);
  if (policy.witnesses.length === 0) refuse("has no witness");
  // Without a quorum the service waits for no witness, so WITNESS_REQUIRED would have no effect.
  if (policy.quorum === "none") refuse("has the quorum none: say whose cosignatures are enough");
  return { policy, required, witnesses: policy.witnesses.map((witness) => asked(witness, devMode)) };
}

function asked(witness: PolicyWitness, devMode: boolean): LedgerWitness {
  const { name, url } = witness;
  if (url === undefined) return refuse(`has no address for the witness ${name}`);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const isHttp = parsed?.protocol === "http:" && (devMode || LOOPBACK.test(parsed.hostname));
  if (parsed?.protocol !== "https:" && !isHttp)
    // Without TLS, anybody on the network between the two could stop the ledger with a false answer.
    refuse(`has an address for the witness ${name} that is not https`);
  return { ...witness, url };
}

function refuse(message: string): never {
  throw new InvalidInputError({
    issues: [{ field: "WITNESS_POLICY", message }],
    code: "invalid_configuration",
    hint: "Give a file in C2SP's policy form: a line `witness <name> <vkey> <url>` for each witness, groups, a quorum.",
  });
}
