import { readFileSync } from "node:fs";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type Environment, readEnvironment } from "tallystick-runtime/configuration/readEnvironment";
import {
  httpSetting,
  portSetting,
  proxiesSetting,
  wholeNumberSetting,
} from "tallystick-runtime/configuration/settings";
import { z } from "zod";
import type { ModelTable } from "./models/modelTable.ts";
import { type Picodollars, parseDollars } from "./models/money.ts";
import { readModels } from "./models/readModels.ts";

/** All settings of a dispatcher's process. */
export type DispatchConfig = {
  models: ModelTable;
  /** The URL of the settlement service, or of the node in front of it, and the API key for it. */
  settlementUrl: string;
  settlementKey: string;
  /** Keys of the clients, by their names. */
  callers: ReadonlyMap<string, string>;
  name: string;
  folder: string;
  host: string;
  port: number;
  perTask: Picodollars;
  perDay: Picodollars;
  atOnce: number;
  /** Whether spans are made. */
  traces: boolean;
  /** Requests of one address in a minute; 0 for no limit. */
  requestsPerAddress: number;
  trustedProxies: number;
  /** The environment with the models' keys. */
  environment: Environment;
};

const dollars = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, "must be dollars with at most 6 decimals, like 0.50");

/** The clients in a setting of the form `name=key, name=key`. */
const clientsIn = (text: string) => text.split(",").map((it) => it.trim().split("=") as [string, string]);

/**
 * If a name stood twice, one client's key would silently be lost. If a key stood twice, a client's tasks would count
 * for another client.
 */
function areDistinct(text: string): boolean {
  const clients = clientsIn(text);
  return [0, 1].every((part) => new Set(clients.map((it) => it[part])).size === clients.length);
}

const environmentSchema = z.object({
  DISPATCH_MODELS_FILE: z.string().default("./models.yaml"),
  DISPATCH_SETTLEMENT_URL: httpSetting,
  DISPATCH_SETTLEMENT_KEY: z.string(),
  DISPATCH_API_KEYS: z
    .string()
    .regex(
      /^\s*[A-Za-z0-9][A-Za-z0-9_-]{0,31}=[^\s,=]{16,256}(\s*,\s*[A-Za-z0-9][A-Za-z0-9_-]{0,31}=[^\s,=]{16,256})*\s*$/,
      "must be name=key, comma separated, with keys of at least 16 characters",
    )
    .refine(areDistinct, "must have each name and each key only once")
    .transform((text) => new Map(clientsIn(text))),
  DISPATCH_NAME: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must have 1 to 64 letters, digits, dots, dashes and _")
    .default("dispatcher"),
  DISPATCH_DIR: z.string().default("./.tallystick/dispatch"),
  DISPATCH_HOST: z.string().default("127.0.0.1"),
  DISPATCH_PORT: portSetting.default(42_076),
  DISPATCH_USD_PER_TASK: dollars.default("0.50"),
  DISPATCH_USD_PER_DAY: dollars.default("5.00"),
  DISPATCH_AT_ONCE: wholeNumberSetting(3)
    .refine((it) => it >= 1 && it <= 256, "must be from 1 to 256")
    .default(8),
  DISPATCH_TRACES: z.enum(["0", "1"], { error: "must be 0 or 1" }).default("0"),
  DISPATCH_REQUESTS_PER_ADDRESS: wholeNumberSetting(9).default(600),
  TRUST_PROXY: proxiesSetting("this dispatcher").default(0),
});

/** The variables that a dispatcher reads, except the keys that models.yaml names. */
export const dispatchVariables = Object.keys(environmentSchema.shape);

/** The keys of vendors that a dispatcher takes from a node's `.env`. */
export const vendorKeys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY"];

/**
 * Reads the configuration of a dispatcher from environment variables and its models.yaml.
 *
 * @throws InvalidInputError naming every variable at fault, or the lines of models.yaml
 */
export function readDispatchConfig(environment: Environment): DispatchConfig {
  const env = readEnvironment(environment, environmentSchema, "dispatch");
  return {
    models: readModels(textOf(env.DISPATCH_MODELS_FILE), env.DISPATCH_MODELS_FILE),
    settlementUrl: env.DISPATCH_SETTLEMENT_URL,
    settlementKey: env.DISPATCH_SETTLEMENT_KEY,
    callers: env.DISPATCH_API_KEYS,
    name: env.DISPATCH_NAME,
    folder: env.DISPATCH_DIR,
    host: env.DISPATCH_HOST,
    port: env.DISPATCH_PORT,
    perTask: parseDollars(env.DISPATCH_USD_PER_TASK, "DISPATCH_USD_PER_TASK"),
    perDay: parseDollars(env.DISPATCH_USD_PER_DAY, "DISPATCH_USD_PER_DAY"),
    atOnce: env.DISPATCH_AT_ONCE,
    traces: env.DISPATCH_TRACES === "1",
    requestsPerAddress: env.DISPATCH_REQUESTS_PER_ADDRESS,
    trustedProxies: env.TRUST_PROXY,
    environment,
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const message = `${file} cannot be read: ${(cause as Error).message}`;
    throw new InvalidInputError({
      code: "invalid_configuration",
      issues: [{ field: "DISPATCH_MODELS_FILE", message }],
      hint: "Copy services/dispatch/models.example.yaml, and set DISPATCH_MODELS_FILE to the copy.",
      cause,
    });
  }
}
