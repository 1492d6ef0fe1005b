import type { Command } from "commander";
import { TallystickError } from "../../protocol/errors.ts";
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

/** `tallystick hire ID`: one counted hire with its evidence. */
export function registerHire(program: Command): void {
  addQueryOptions(
    program
      .command("hire")
      .description("Show a counted hire: who, for what, how it ended, and what that rests on.")
      .argument("<id>", "of the hire, as `agent` and GraphQL show it"),
  ).action(async (id: string, options: QueryOptions) => {
    const { hire } = await nodeAt(options).graphql.hire({ id });
    if (hire === null)
      throw new TallystickError({ code: "unknown_hire", message: `No hire ${id} was counted.` });
    answer(options, hire, () =>
      [
        bold(hire.id),
        facts([
          ["hire id", hire.hireId],
          ["seller", hire.sellerAddress],
          ["buyer", hire.buyerAddress],
          ["capability", hire.capability],
          ["mode", hire.paymentMode],
          [
            "price",
            `$${hire.priceUsdc}${hire.amountUsdc === hire.priceUsdc ? "" : ` of $${hire.amountUsdc}`}`,
          ],
          ["outcome", hire.outcome.toLowerCase()],
          ["by the word of", hire.evidence.toLowerCase()],
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
  });
}
