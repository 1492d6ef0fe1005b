import { readFileSync } from "node:fs";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { isNoteKeyName, type NoteVerifierKey } from "tallystick-protocol/note/signedNote";
import { parseTrustPolicy } from "tallystick-protocol/note/trustPolicy";
import { type Environment, readEnvironment } from "tallystick-runtime/configuration/readEnvironment";
import {
  portSetting,
  privateKeySetting,
  proxiesSetting,
  wholeNumberSetting,
} from "tallystick-runtime/configuration/settings";
import { z } from "zod";

export type WitnessConfig = {
  name: string;
  host: string;
  port: number;
  /** The folder of the witness's key and its last cosignatures. */
  folder: string;
  logs: readonly NoteVerifierKey[];
  /**
   * The Ed25519 seed of the witness. If it is absent, the witness makes a seed and keeps it in its folder.
   */
  privateKey?: Hex;
  /** Requests of one address in a minute; 0 for no limit. */
  requestsPerAddress: number;
  trustedProxies: number;
};

const environmentSchema = z.object({
  WITNESS_NAME: z
    .string()
    .refine(
      (name) => isNoteKeyName(name) && name.length <= 255,
      "must have 1 to 255 characters, without spaces and plus signs (C2SP signed-note)",
    ),
  WITNESS_LOGS: z.string(),
  WITNESS_DIR: z.string().default("./.tallystick/witness"),
  WITNESS_HOST: z.string().default("127.0.0.1"),
  WITNESS_PORT: portSetting.default(42_072),
  WITNESS_PRIVATE_KEY: privateKeySetting.optional(),
  WITNESS_REQUESTS_PER_ADDRESS: wholeNumberSetting(9).default(600),
  TRUST_PROXY: proxiesSetting("this witness").default(0),
});

export const witnessVariables = Object.keys(environmentSchema.shape);

/**
 * Reads the configuration of a witness from environment variables.
 *
 * @throws InvalidInputError naming every variable at fault, or the bad line of the file that `WITNESS_LOGS` names
 */
export function readWitnessConfig(environment: Environment): WitnessConfig {
  const env = readEnvironment(environment, environmentSchema, "witness");
  return {
    name: env.WITNESS_NAME,
    host: env.WITNESS_HOST,
    port: env.WITNESS_PORT,
    folder: env.WITNESS_DIR,
    logs: readLogs(env.WITNESS_LOGS),
    ...(env.WITNESS_PRIVATE_KEY !== undefined && { privateKey: env.WITNESS_PRIVATE_KEY }),
    requestsPerAddress: env.WITNESS_REQUESTS_PER_ADDRESS,
    trustedProxies: env.TRUST_PROXY,
  };
}

/**
 * The keys in the `log` lines of a policy in C2SP's form. The policy's other lines must have the right form too. Their
 * content does not matter here: it says which witnesses must cosign, and a witness asks no other witness.
 */
function readLogs(file: string): NoteVerifierKey[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    return refuse(`cannot be read: ${(cause as Error).message}`);
  }
  const { logs } = parseTrustPolicy(text, "WITNESS_LOGS");
  if (logs.length === 0) return refuse(`${file} has no log line, so there is nothing to cosign`);
  return logs.map(({ key }) => key);
}

function refuse(message: string): never {
  throw new InvalidInputError({
    issues: [{ field: "WITNESS_LOGS", message }],
    code: "invalid_configuration",
    hint: "Give a file in C2SP's policy form: one line `log <vkey>` for each log, and a line `quorum none`.",
  });
}
