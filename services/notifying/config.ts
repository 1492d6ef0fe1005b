import type { Hex } from "tallystick-protocol/hex";
import { type Environment, readEnvironment } from "tallystick-runtime/configuration/readEnvironment";
import {
  httpSetting,
  portSetting,
  privateKeySetting,
  wholeNumberSetting,
} from "tallystick-runtime/configuration/settings";
import { z } from "zod";

/** All settings of the sender of notices. */
export type NotifierConfig = {
  /** The URL of the node that it follows. Requests to settlement go through this node too. */
  nodeUrl: string;
  /** The key that signs the notices. Settlement's setting NOTIFIER is the address of this key. */
  privateKey: Hex;
  /** The folder for the waiting notices and the notes about sent notices. */
  folder: string;
  host: string;
  port: number;
  roundMs: number;
  /** Sends to plain http and private addresses as well. */
  devMode: boolean;
};

const environmentSchema = z.object({
  NOTIFIER_NODE_URL: httpSetting.default("http://127.0.0.1:42069"),
  NOTIFIER_PRIVATE_KEY: privateKeySetting,
  NOTIFIER_DIR: z.string().default("./.tallystick/notifying"),
  NOTIFIER_HOST: z.string().default("127.0.0.1"),
  NOTIFIER_PORT: portSetting.default(42_075),
  NOTIFIER_ROUND_MS: wholeNumberSetting(9)
    .refine((ms) => ms >= 100, "must be at least 100")
    .default(30_000),
  NOTIFIER_DEV_MODE: z
    .enum(["0", "1", "false", "true"])
    .default("0")
    .transform((text) => text === "1" || text === "true"),
});

/** The variables that the process reads. It needs no others. */
export const notifierVariables = Object.keys(environmentSchema.shape);

/**
 * Reads the configuration from environment variables. An empty variable counts as absent.
 *
 * @throws InvalidInputError naming every variable at fault
 */
export function readNotifierConfig(environment: Environment): NotifierConfig {
  const env = readEnvironment(environment, environmentSchema, "notifying");
  return {
    nodeUrl: env.NOTIFIER_NODE_URL,
    privateKey: env.NOTIFIER_PRIVATE_KEY,
    folder: env.NOTIFIER_DIR,
    host: env.NOTIFIER_HOST,
    port: env.NOTIFIER_PORT,
    roundMs: env.NOTIFIER_ROUND_MS,
    devMode: env.NOTIFIER_DEV_MODE,
  };
}
