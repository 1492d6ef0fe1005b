import { readFileSync } from "node:fs";
import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import { hash32Schema } from "tallystick-protocol/hash32Schema";
import type { Hex } from "tallystick-protocol/hex";
import { parseVerifierKey } from "tallystick-protocol/note/signedNote";
import { parseTrustPolicy } from "tallystick-protocol/note/trustPolicy";
import { type Environment, readEnvironment } from "tallystick-runtime/configuration/readEnvironment";
import {
  addressSetting,
  httpSetting,
  portSetting,
  proxiesSetting,
  wholeNumberSetting,
} from "tallystick-runtime/configuration/settings";
import { z } from "zod";
import type { BucketConfig } from "../objectStore/bucket.ts";
import type { Trust } from "../staticLog/verifyStaticLog.ts";

/** The RPC, chain and contract by which the ledger's anchors are read. */
export type AnchorSource = { ledgerId: Hex; rpcUrl: string; chainId: number; contract: Address };

export type MirrorConfig = {
  folder: string;
  trust: Trust;
  /** The ledger's id; readers may name it. */
  ledgerId: Hex | undefined;
  anchor: AnchorSource | undefined;
  everySeconds: number;
  host: string;
  port: number;
  /** Requests of one address in a minute; 0 for no limit. */
  requestsPerAddress: number;
  trustedProxies: number;
  /** The object store to which the mirror is copied. */
  bucket: BucketConfig | undefined;
};

const environmentSchema = z.object({
  MIRROR_DIR: z.string().default("./.tallystick/mirror"),
  MIRROR_VKEY: z.string().optional(),
  MIRROR_POLICY: z.string().optional(),
  MIRROR_LEDGER: hash32Schema.optional(),
  MIRROR_INTERVAL_SECONDS: wholeNumberSetting(5)
    .refine((seconds) => seconds >= 1, "must be at least 1")
    .default(5),
  MIRROR_HOST: z.string().default("127.0.0.1"),
  MIRROR_PORT: portSetting.default(42_077),
  MIRROR_REQUESTS_PER_ADDRESS: wholeNumberSetting(9).default(600),
  MIRROR_S3_URL: httpSetting.optional(),
  MIRROR_S3_REGION: z.string().default("auto"),
  MIRROR_S3_ACCESS_KEY_ID: z.string().optional(),
  MIRROR_S3_SECRET_ACCESS_KEY: z.string().optional(),
  TRUST_PROXY: proxiesSetting("this mirror").default(0),
  RPC_URL: httpSetting.optional(),
  CHAIN_ID: wholeNumberSetting(15).optional(),
  ANCHORED_LEDGER: addressSetting.optional(),
});

export const mirrorVariables = Object.keys(environmentSchema.shape);

/**
 * Reads the configuration of a mirror from environment variables.
 *
 * @throws InvalidInputError naming every variable at fault
 */
export function readMirrorConfig(environment: Environment): MirrorConfig {
  const env = readEnvironment(environment, environmentSchema, "mirror");
  const trust: Trust = {
    keys: env.MIRROR_VKEY === undefined ? undefined : [parseVerifierKey(env.MIRROR_VKEY, "MIRROR_VKEY")],
    policy: env.MIRROR_POLICY === undefined ? undefined : readPolicy(env.MIRROR_POLICY),
  };
  if (trust.keys === undefined && trust.policy === undefined) {
    refuse(
      "MIRROR_VKEY",
      "must be the ledger's verifier key (GET /v1/ledger/key), or MIRROR_POLICY a policy",
    );
  }
  return {
    folder: env.MIRROR_DIR,
    trust,
    ledgerId: env.MIRROR_LEDGER,
    anchor: anchorOf(env),
    everySeconds: env.MIRROR_INTERVAL_SECONDS,
    host: env.MIRROR_HOST,
    port: env.MIRROR_PORT,
    requestsPerAddress: env.MIRROR_REQUESTS_PER_ADDRESS,
    trustedProxies: env.TRUST_PROXY,
    bucket: bucketOf(env),
  };
}

type Settings = z.output<typeof environmentSchema>;

/** With a ledger's id alone, readers can name the ledger. With a contract too, its anchors are checked. */
function anchorOf({ MIRROR_LEDGER, RPC_URL, CHAIN_ID, ANCHORED_LEDGER }: Settings): AnchorSource | undefined {
  if (MIRROR_LEDGER === undefined || ANCHORED_LEDGER === undefined) return undefined;
  for (const [name, value] of Object.entries({ RPC_URL, CHAIN_ID }))
    if (value === undefined) refuse(name, "is needed to compare the copy with what the contract holds");
  return {
    ledgerId: MIRROR_LEDGER,
    rpcUrl: RPC_URL as string,
    chainId: CHAIN_ID as number,
    contract: ANCHORED_LEDGER,
  };
}

function bucketOf(env: Settings): BucketConfig | undefined {
  const { MIRROR_S3_URL, MIRROR_S3_ACCESS_KEY_ID, MIRROR_S3_SECRET_ACCESS_KEY } = env;
  if (MIRROR_S3_URL === undefined) return undefined;
  for (const [name, value] of Object.entries({ MIRROR_S3_ACCESS_KEY_ID, MIRROR_S3_SECRET_ACCESS_KEY }))
    if (value === undefined) refuse(name, "is needed to write to MIRROR_S3_URL");
  return {
    url: MIRROR_S3_URL,
    region: env.MIRROR_S3_REGION,
    accessKeyId: MIRROR_S3_ACCESS_KEY_ID as string,
    secretAccessKey: MIRROR_S3_SECRET_ACCESS_KEY as string,
  };
}

function readPolicy(file: string) {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    return refuse("MIRROR_POLICY", `cannot be read: ${(cause as Error).message}`);
  }
  return parseTrustPolicy(text, "MIRROR_POLICY");
}

function refuse(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message }], code: "invalid_configuration" });
}
