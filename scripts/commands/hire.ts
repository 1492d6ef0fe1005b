import { type Command, Option } from "commander";
import { priceUsdcSchema } from "tallystick-protocol/amount";
import { isCapability } from "tallystick-protocol/capability";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { plainJson, plainText } from "tallystick-runtime/plainText";
import { z } from "zod";
import { parseOption, wholeNumber } from "../cli/parseOption.ts";
import { exitOfResumed, RUNNING } from "../hire/exitOfResumed.ts";
import {
  addQueryOptions,
  answer,
  bold,
  facts,
  moment,
  nodeAt,
  number,
  type QueryOptions,
} from "../query/nodeQuery.ts";

type HireOptions = QueryOptions & {
  params?: { [key: string]: unknown };
  maxPrice?: string;
  maxLatency: number;
  mode?: string;
  seller?: string;
  key?: string;
  wait: number;
  resume?: boolean;
};

const jsonObject = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: "custom", message: "must be JSON" });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.unknown(), "must be a JSON object"));

/** `tallystick hire CAPABILITY`: hires an agent. `tallystick hire ID`: one counted hire with its evidence. */
export function registerHire(program: Command): void {
  addQueryOptions(
    program
      .command("hire")
      .description(
        "Hire an agent for a capability, or show a counted hire by its id.\n" +
          "Hiring needs TALLYSTICK_PRIVATE_KEY. On another chain than Base it also needs TALLYSTICK_CHAIN_ID, and TALLYSTICK_TOKEN if it is not Base Sepolia. " +
          "Without TALLYSTICK_RPC_URL, a direct payment is never reported as paid. TALLYSTICK_SPEND_CAP_USDC limits all hires together, " +
          "and TALLYSTICK_MAX_PER_HIRE_USDC limits each hire. TALLYSTICK_ESCROWS names the escrows that may be used.",
      )
      .argument("[what]", "a capability, or the id of a hire, as `agent` and GraphQL show it")
      .option(
        "--params <json>",
        "what the capability's input schema asks for",
        parseOption("--params", jsonObject),
      )
      .option("--max-price <usdc>", "the most it may cost", parseOption("--max-price", priceUsdcSchema))
      .option("--max-latency <ms>", "how long the seller may take", wholeNumber("--max-latency"), 30_000)
      .option("--mode <mode>", "direct, escrow, or one payment mode (default: direct)")
      .option("--seller <address>", "hire only this seller")
      .option(
        "--key <key>",
        "idempotency key: the same key means the same hire for 30 days; new: always a new hire (default: the same call means the same hire for an hour)",
      )
      .option(
        "--wait <seconds>",
        "how long to wait before the hire is left to --resume",
        wholeNumber("--wait"),
        60,
      )
      .addOption(
        new Option("--resume", "finish the hires that were paid but did not finish").conflicts([
          "params",
          "maxPrice",
          "key",
        ]),
      ),
  )
    .addHelpText(
      "after",
      `\nExit codes: 0 done and verified, 1 failed or not verified, ${RUNNING} paid for and still running. With --resume, 1 if any hire failed.`,
    )
    .action(async (what: string | undefined, options: HireOptions) => {
      if (options.resume) return await resume(options);
      if (what !== undefined && isCapability(what)) return await hire(what, options);
      if (what !== undefined) return await show(what, options);
      throw new InvalidInputError({
        issues: [{ field: "what", message: "must be a capability or a hire's id" }],
      });
    });
}

async function hire(capability: string, options: HireOptions): Promise<void> {
  const { maxPrice, maxLatency, mode, seller, key, wait } = options;
  if (maxPrice === undefined) {
    throw new InvalidInputError({ issues: [{ field: "--max-price", message: "is required to hire" }] });
  }
  // Loaded only now, because the wallet's libraries are slow to load and most calls only read.
  const { buyerOf, hireFor, hireJson } = await import("../hire/hireFor.ts");
  const buyer = buyerOf({ ...process.env, TALLYSTICK_URL: options.url }, maxPrice);
  const parameters = {
    capability,
    params: options.params ?? {},
    maxPriceUsdc: maxPrice,
    maxLatencyMs: maxLatency,
    ...(mode !== undefined && { mode }),
    ...(seller !== undefined && { seller: seller.toLowerCase() }),
    ...(key !== undefined && { idempotencyKey: key }),
  };
  const outcome = await hireFor(buyer, parameters, wait * 1000, tell);
  if (outcome.status === "running") {
    process.exitCode = RUNNING;
    return answer(options, outcome, () =>
      [
        facts([
          ["hire id", outcome.hire_id],
          ["job", outcome.job_id],
          ["key", outcome.idempotency_key],
          ["money", outcome.money],
        ]),
        // The same command would be a new hire an hour later, and with the key `new` at once.
        "The seller is still working. To finish the hire, run `tallystick hire --resume`.",
      ].join("\n"),
    );
  }
  const done = hireJson(outcome.hire);
  if (!done.verification.all_passed) process.exitCode = 1;
  // This is a stranger's text, so terminal control characters are escaped.
  answer(options, { status: "done", idempotency_key: outcome.idempotency_key, ...done }, () =>
    [
      facts([
        ["hire id", done.hire_id],
        ["seller", done.agent_id],
        ["paid", `$${done.price_paid_usdc}, ${done.money}`],
        ["verified", done.verification.all_passed ? "yes" : "no"],
        ["repeated", done.repeated ? "yes: nothing was paid by this call" : null],
        ["key", outcome.idempotency_key],
        ["receipt", done.receipt_hash],
      ]),
      plainJson(done.result, 2),
    ].join("\n"),
  );
}

async function resume(options: HireOptions): Promise<void> {
  const { buyerOf, resumedJson } = await import("../hire/hireFor.ts");
  const buyer = buyerOf({ ...process.env, TALLYSTICK_URL: options.url });
  const hires = (await buyer.resume()).map(resumedJson);
  await buyer.idle();
  process.exitCode = exitOfResumed(hires);
  answer(options, { hires }, () =>
    hires.length === 0
      ? "This wallet has no open hire on this chain."
      : hires.map((one) => plainJson(one, 2)).join("\n"),
  );
}

/** Prints the progress separately from the answer. */
function tell(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

async function show(id: string, options: QueryOptions): Promise<void> {
  const { hire } = await nodeAt(options).graphql.hire({ id });
  if (hire === null)
    throw new TallystickError({ code: "unknown_hire", message: `No hire ${id} was counted.` });
  answer(options, hire, () =>
    [
      bold(plainText(hire.id)),
      facts([
        ["hire id", hire.hireId],
        ["seller", hire.sellerAddress],
        ["buyer", hire.buyerAddress],
        ["capability", hire.capability],
        ["mode", hire.paymentMode],
        ["price", `$${hire.priceUsdc}${hire.amountUsdc === hire.priceUsdc ? "" : ` of $${hire.amountUsdc}`}`],
        ["outcome", hire.outcome.toLowerCase()],
        ["evidence", hire.evidence.toLowerCase()],
        ["refunded", hire.refunded ? "yes" : null],
        ["dispute", hire.dispute ? `yes, by ${hire.disputeSource}` : null],
        [
          "weight",
          hire.clusterSize === 1 ? "1" : `${number(hire.weight)}: both in a cluster of ${hire.clusterSize}`,
        ],
        ["latency", hire.latencyMs === null ? null : `${hire.latencyMs} ms`],
        ["paid", moment(hire.time)],
        ["transaction", hire.tx],
        ["escrow", hire.escrowId],
        ["receipt", hire.receiptHash],
        ...hire.ratings.map(({ side, stars }): [string, string] => [
          `rated by ${side.toLowerCase()}`,
          `${stars} stars`,
        ]),
      ]),
    ].join("\n"),
  );
}
