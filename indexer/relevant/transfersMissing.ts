import { TallystickError } from "tallystick-protocol/errors";
import { type Gap, missingOf } from "../logPort/completeness/checkCompleteness.ts";

/** The error of a wallet whose transfers do not add up to its balance. */
export function transfersMissing(gap: Gap): TallystickError {
  const { wallet, block, source, balanceSource } = gap;
  return new TallystickError({
    code: "transfers_missing",
    message:
      `Transfers do not add up: up to block ${block} the source ${source} gave transfers of ${wallet} that lack ${missingOf(gap)}, ` +
      `according to the balance from ${balanceSource}. ` +
      "Index anew with other sources (LOG_PORTAL_URL, LOG_HYPERSYNC_URL, LOG_RPC_URLS, RPC_URL)",
    hint: "Index anew with other sources. The node goes on by itself if the source corrects its answer.",
  });
}
