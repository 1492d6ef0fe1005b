import type { Hex } from "tallystick-protocol/hex";
import { type LedgerName, ledgerNameSchema } from "tallystick-protocol/records/ledgerName";
import { type Environment, readEnvironment } from "tallystick-runtime/configuration/readEnvironment";
import {
  httpSetting,
  portSetting,
  privateKeySetting,
  wholeNumberSetting,
} from "tallystick-runtime/configuration/settings";
import { z } from "zod";
import type { Keeping } from "./observations/observationFiles.ts";

export type ProberConfig = {
  /** The node's URL. The prober reads the node's listings. The node forwards the prober's reports to settlement. */
  nodeUrl: string;
  /** The ledger for which reports are signed. If absent, this is the first ledger that the node names. */
  ledger: LedgerName | undefined;
  privateKey: Hex;
  /** The prober's region, as its reports name it. */
  region: string;
  /** A contact for the people who run hosts. The User-Agent names this contact. */
  contact: string;
  folder: string;
  /** The address for `/metrics` and `/health`. */
  host: string;
  port: number;
  maxHosts: number;
  requestsPerSecond: number;
  keep: Keeping;
  /** Hosts (`host:port`) to which the prober connects, to learn whether it is itself connected. */
  uplink: string[];
  /** Hosts (`host:port`) that the prober never asks. */
  leaveOut: string[];
  /** Allows plain http and private addresses, for tests in a private network. */
  devMode: boolean;
};

const MAX_REQUESTS_PER_SECOND = 50;

const HOST_AND_PORT = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\]):[1-9]\d{0,4}$/;

const hostList = z.string().transform((text) =>
  text
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== ""),
);
const hosts = hostList.refine(
  (list) => list.every((entry) => HOST_AND_PORT.test(entry)),
  "must be host:port, comma separated",
);
const wholeNumber = wholeNumberSetting(9);
const atLeastOne = wholeNumber.refine((count) => count > 0, "must be at least 1");

const environmentSchema = z.object({
  TALLYSTICK_URL: httpSetting.default("http://127.0.0.1:42069"),
  TALLYSTICK_LEDGER: ledgerNameSchema.optional(),
  PROBER_PRIVATE_KEY: privateKeySetting,
  PROBER_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,32}$/, "must be 1 to 32 lower-case letters, digits and hyphens")
    .default("default"),
  PROBER_CONTACT: z
    .string()
    .regex(/^[\x21-\x7e]{3,200}$/, "must be an e-mail address or a web page, without spaces"),
  PROBER_DIR: z.string().default("./.tallystick/prober"),
  PROBER_HOST: z.string().default("127.0.0.1"),
  PROBER_PORT: portSetting.default(42_074),
  PROBER_MAX_HOSTS: atLeastOne.refine((count) => count <= 100_000, "must be at most 100000").default(10_000),
  PROBER_REQUESTS_PER_SECOND: atLeastOne
    .refine((count) => count <= MAX_REQUESTS_PER_SECOND, `must be at most ${MAX_REQUESTS_PER_SECOND}`)
    .default(MAX_REQUESTS_PER_SECOND),
  PROBER_KEEP_DAYS: atLeastOne.default(30),
  PROBER_KEEP_MB: atLeastOne.default(4_096),
  PROBER_UPLINK: hosts
    .refine((list) => list.length > 0, "must name at least one host")
    .default(["one.one.one.one:443", "dns.google:443", "dns.quad9.net:443"]),
  PROBER_LEAVE_OUT: hosts.default([]),
  PROBER_DEV_MODE: z.enum(["0", "1"], { error: "must be 0 or 1" }).default("0"),
});

/** The variables that a prober reads. It needs no others. */
export const proberVariables = Object.keys(environmentSchema.shape);

/**
 * Reads a prober's configuration from environment variables. An empty variable counts as absent.
 *
 * @throws InvalidInputError naming every variable at fault
 */
export function readProberConfig(environment: Environment): ProberConfig {
  const it = readEnvironment(environment, environmentSchema, "prober");
  return {
    nodeUrl: it.TALLYSTICK_URL,
    ledger: it.TALLYSTICK_LEDGER,
    privateKey: it.PROBER_PRIVATE_KEY,
    region: it.PROBER_REGION,
    contact: it.PROBER_CONTACT,
    folder: it.PROBER_DIR,
    host: it.PROBER_HOST,
    port: it.PROBER_PORT,
    maxHosts: it.PROBER_MAX_HOSTS,
    requestsPerSecond: it.PROBER_REQUESTS_PER_SECOND,
    keep: { days: it.PROBER_KEEP_DAYS, bytes: it.PROBER_KEEP_MB * 1_048_576 },
    uplink: it.PROBER_UPLINK,
    leaveOut: it.PROBER_LEAVE_OUT,
    devMode: it.PROBER_DEV_MODE === "1",
  };
}
