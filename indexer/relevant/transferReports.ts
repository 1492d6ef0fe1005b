import type { Address } from "tallystick-protocol/address";
import type { Gap } from "../logPort/completeness/checkCompleteness.ts";
import type { Operations } from "../operations.ts";
import { logInfo, logWarning } from "../ponderProcess.ts";
import { loggedReason, publicReason } from "../publicReason.ts";
import type { Failure } from "../src/segments/retryUntilAvailable.ts";
import { tryAgain } from "../tryAgain.ts";
import { transfersMissing } from "./transfersMissing.ts";

type Reports = Pick<Operations, "reportBlockedTransfers" | "reportUnblockedTransfers">;

/**
 * The reports of one wait for a source of transfers.
 *
 * @param isDoubtful whether a wallet is reported whose transfers do not add up. Then that report stays
 */
export function reportsOfWait(operations: Reports, block: number, isDoubtful: () => boolean) {
  const since = now();
  return {
    onBlocked: async ({ attempts, reason, logged }: Failure) => {
      if (isLogged(attempts)) {
        logWarning({ msg: "Waiting for transfers of the token", block, attempts, reason: logged });
      }
      if (isDoubtful()) return;
      await operations.reportBlockedTransfers({ block, since, attempts, reason, wallet: null });
    },
    onUnblocked: async () => {
      logInfo({ msg: "Stopped waiting for transfers of the token", block });
      if (!isDoubtful()) await operations.reportUnblockedTransfers();
    },
  };
}

/**
 * Reports a wallet as soon as its transfers do not add up. From then on everything that is published is marked as doubtful,
 * and the next tick waits, with the same reason.
 */
export async function reportGap(
  operations: Pick<Reports, "reportBlockedTransfers">,
  gap: Gap,
): Promise<void> {
  const { block, wallet } = gap;
  const error = transfersMissing(gap);
  const msg = "Transfers do not add up to a balance";
  logWarning({ msg, block, wallet, reason: loggedReason(error) });
  const report = { block, since: now(), attempts: 0, reason: publicReason(error), wallet };
  await operations.reportBlockedTransfers(report);
}

/**
 * The reports while a block is held, because the transfers of a wallet do not add up.
 *
 * @param suspect the wallet; null when all add up
 */
export function reportsOfHold(operations: Reports, block: number, suspect: () => string | null) {
  const since = now();
  return {
    onBlocked: async ({ attempts, reason, logged }: Failure) => {
      const wallet = suspect();
      if (isLogged(attempts)) {
        const msg = "Transfers do not add up to a balance";
        logWarning({ msg, block, attempts, reason: logged, wallet: wallet ?? "" });
      }
      await operations.reportBlockedTransfers({ block, since, attempts, reason, wallet });
    },
    onUnblocked: async () => {
      // The wait also ends when a reorganization removes the block. Then the wallet is as doubtful as before.
      if (suspect() !== null) return;
      logInfo({ msg: "Transfers add up again", block });
      await operations.reportUnblockedTransfers();
    },
  };
}

/**
 * Wallets whose transfers did not add up when an earlier process ended. The report stays until these wallets are
 * checked again. Any other report is removed.
 *
 * @throws when the database does not tell, even after some attempts. Without its answer the report must not be removed
 */
export async function suspectsOf(
  operations: Pick<Operations, "readBlockedTransfers" | "reportUnblockedTransfers">,
  signal: AbortSignal,
): Promise<Address[]> {
  const what = "read whether transfers were in doubt";
  const earlier = await tryAgain(what, signal, operations.readBlockedTransfers);
  if (earlier !== null && earlier.wallet !== null) return [earlier.wallet as Address];
  await operations.reportUnblockedTransfers();
  return [];
}

/** The first, second, fourth, eighth attempt and so on. This keeps the log short. */
function isLogged(attempts: number): boolean {
  return Math.log2(attempts) % 1 === 0;
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
