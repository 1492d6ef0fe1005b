import type { Command } from "commander";
import { TallystickError } from "tallystick-protocol/errors";
import { plainText } from "tallystick-runtime/plainText";
import {
  addQueryOptions,
  answer,
  bold,
  facts,
  moment,
  nodeAt,
  type QueryOptions,
} from "../query/nodeQuery.ts";

/** `tallystick escrow ID`: the money that is held for a hire, and its outcome. */
export function registerEscrow(program: Command): void {
  addQueryOptions(
    program
      .command("escrow")
      .description("Show an escrow: who deposited how much for whom, and how it ended.")
      .argument("<id>", "the escrowId"),
  ).action(async (id: string, options: QueryOptions) => {
    const { escrow } = await nodeAt(options).graphql.escrow({ id });
    if (escrow === null) {
      throw new TallystickError({
        code: "unknown_escrow",
        message: `No escrow ${id} was paid into a contract that this node follows.`,
      });
    }
    const money = (amount: string | null) => (amount === null ? null : `$${amount}`);
    answer(options, escrow, () =>
      [
        bold(plainText(escrow.id)),
        facts([
          ["status", escrow.status.toLowerCase().replace("_", " ")],
          ["provider", `${escrow.provider}, ${escrow.contract}`],
          ["amount", money(escrow.amountUsdc)],
          ["fee", escrow.feeRecipient === null ? null : `$${escrow.feeUsdc} to ${escrow.feeRecipient}`],
          ["buyer", escrow.buyerAddress],
          ["seller", escrow.sellerAddress],
          ["payee", escrow.payee === escrow.sellerAddress ? null : escrow.payee],
          ["arbiter", escrow.arbiter],
          ["deposited", moment(escrow.depositedTime)],
          ["deadline", moment(escrow.deadline)],
          ["delivered", escrow.delivered ? `yes, ${escrow.resultHash}` : "no"],
          ["settled", escrow.settledTime === null ? null : moment(escrow.settledTime)],
          ["to the seller", money(escrow.toSellerUsdc)],
          ["to the buyer", money(escrow.toBuyerUsdc)],
          ["refunded by", escrow.refundedBy],
          ["hire id", escrow.hireId],
          [
            "counted as",
            escrow.hire === null ? null : `${escrow.hire.outcome.toLowerCase()}, hire ${escrow.hire.id}`,
          ],
          ["transaction", escrow.tx],
        ]),
      ].join("\n"),
    );
  });
}
