import { randomInt } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { parseUsdc, priceUsdcSchema } from "tallystick-protocol/amount";
import { InvalidInputError } from "tallystick-protocol/errors";
import { z } from "zod";
import {
  POOL_DEFAULTS,
  type PoolRow,
  type PoolSettings,
  poolRows,
  poolTable,
} from "../auditPool/poolTable.ts";
import { withPoolTable } from "../auditPool/withPoolTable.ts";
import { parseOption, wholeNumber } from "../cli/parseOption.ts";
import { createProgress } from "../cli/progress.ts";

type Options = {
  seed?: number;
  sellers: number;
  ratePpm?: number;
  recheckPpm?: number;
  auditors: number;
  buyers: number;
  price?: bigint;
  fee?: bigint;
  truePositive: number;
  unanswered: number;
  inconclusive: number;
  garbage: number[];
  colluders: number[];
  trueNegative: number[];
  linked?: boolean;
  json?: boolean;
  update?: string;
};

const share = z.coerce.number().min(0, "must be from 0 to 1").max(1, "must be from 0 to 1");
const shares = z.preprocess(
  (text) => String(text).split(","),
  z.array(share).min(1).max(10, "must be at most 10"),
);
const ppm = z.coerce.number().int().min(0).max(1_000_000, "must be from 0 to 1000000");
const usdc = z
  .string()
  .refine((text) => priceUsdcSchema.safeParse(text).success, "must be an amount like 0.01")
  .transform((text) => parseUsdc(text));
const atLeastOne = z.coerce.number().int().min(1, "must be 1 or more").max(10_000, "must be at most 10000");

/** `tallystick audit-pool`: simulates audits with given rates, rosters, liars, poor judges and prices. */
export function registerAuditPool(program: Command): void {
  const { market, ...defaults } = POOL_DEFAULTS;
  const option = <T>(name: string, schema: z.ZodType<T>) => parseOption(name, schema);
  program
    .command("audit-pool")
    .description(
      "Simulate audits: how many hires a seller of worthless work sells until a confirmed fail (median and " +
        "90 %), how often good work is failed, and what 1,000 hires cost the pool. A liar always says the " +
        "opposite of the truth.",
    )
    .option(
      "--seed <number>",
      "the same seed gives the same figures; without one a random seed is printed",
      wholeNumber("--seed"),
    )
    .option(
      "--sellers <count>",
      "how many sellers are simulated for each figure",
      option("--sellers", atLeastOne),
      defaults.sellers,
    )
    .option("--rate-ppm <ppm>", "how many of a million hires are drawn", option("--rate-ppm", ppm))
    .option(
      "--recheck-ppm <ppm>",
      "how many of the passed hires are judged again",
      option("--recheck-ppm", ppm),
    )
    .option(
      "--auditors <count>",
      "how many are on the roster",
      option("--auditors", atLeastOne),
      market.auditors,
    )
    .option(
      "--buyers <count>",
      "how many hire the seller, in turn",
      option("--buyers", atLeastOne),
      market.buyers,
    )
    .option("--price <usdc>", "the price of a hire; 0.5 unless given", option("--price", usdc))
    .option("--fee <usdc>", "the fee of an audit at any price", option("--fee", usdc))
    .option(
      "--true-positive <share>",
      "how often an honest auditor passes good work",
      option("--true-positive", share),
      market.truePositive,
    )
    .option(
      "--true-negative <shares>",
      "how often it fails garbage; a row for each",
      option("--true-negative", shares),
      [...defaults.trueNegatives],
    )
    .option(
      "--unanswered <share>",
      "how often it does not answer in time",
      option("--unanswered", share),
      market.unanswered,
    )
    .option(
      "--inconclusive <share>",
      "how often it cannot say",
      option("--inconclusive", share),
      market.inconclusive,
    )
    .option(
      "--colluders <shares>",
      "how many of the auditors lie; rows for each",
      option("--colluders", shares),
      [...defaults.colluding],
    )
    .option(
      "--garbage <shares>",
      "how much of a seller's work is bad; a column for each",
      option("--garbage", shares),
      [...defaults.garbage],
    )
    .option("--linked", "the liars are known to belong together")
    .option("--json", "print JSON")
    .option("--update <file>", "write the table into this document, between its marks")
    .action(run);
}

async function run(options: Options): Promise<void> {
  if (options.unanswered + options.inconclusive > 1) {
    const message = "and --inconclusive must not be more than 1 together";
    throw new InvalidInputError({ issues: [{ field: "--unanswered", message }] });
  }
  const settings = settingsOf(options);
  const rows: PoolRow[] = [];
  const progress = createProgress({ silent: options.json ?? false });
  const total = settings.colluding.length * settings.trueNegatives.length;
  await progress.step("simulating", async (tell) => {
    for (const row of poolRows(settings)) {
      rows.push(row);
      tell(`${rows.length} of ${total}`);
      // Gives the terminal time to show the progress.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return { detail: `seed ${settings.seed}`, value: undefined };
  });
  if (options.update !== undefined) {
    const text = await readFile(options.update, "utf8");
    await writeFile(options.update, withPoolTable(text, settings, rows));
    return;
  }
  process.stdout.write(options.json ? jsonOf(settings, rows) : `${poolTable(settings.garbage, rows)}\n`);
}

function settingsOf(options: Options): PoolSettings {
  const { auditors, buyers, price, fee, ratePpm, recheckPpm } = options;
  const { truePositive, unanswered, inconclusive, linked = false } = options;
  const given = { auditors, buyers, truePositive, unanswered, inconclusive };
  const rules = {
    ...(ratePpm !== undefined && { ratePpm }),
    ...(recheckPpm !== undefined && { recheckPpm }),
    ...(fee !== undefined && { fees: [{ fromAtomic: "0", feeAtomic: String(fee) }] }),
  };
  return {
    ...POOL_DEFAULTS,
    market: {
      ...POOL_DEFAULTS.market,
      ...given,
      priceAtomic: price ?? POOL_DEFAULTS.market.priceAtomic,
      areLinked: linked,
      rules,
    },
    garbage: options.garbage,
    colluding: options.colluders,
    trueNegatives: options.trueNegative,
    // The table of a document always uses the same seed, so it is the same each time.
    seed: options.seed ?? (options.update === undefined ? randomInt(2 ** 31) : POOL_DEFAULTS.seed),
    sellers: options.sellers,
  };
}

/** Amounts are decimal strings of atomic units. */
function jsonOf(settings: PoolSettings, rows: PoolRow[]): string {
  const written = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  return `${JSON.stringify({ ...settings, rows }, written, 2)}\n`;
}
