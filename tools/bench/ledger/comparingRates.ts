import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { toHex } from "tallystick-protocol/hex";
import { EMPTY_ROOT } from "tallystick-protocol/merkle/hash";
import { writeLastSigned } from "../../../services/settlement/ledger/lastSigned.ts";
import type { VerificationState } from "../../../services/settlement/verifying/ledgerVerifier.ts";
import { startSettlement } from "./settlementServer.ts";
import { signReceipts } from "./signedReceipts.ts";
import { sendAll } from "./throughput.ts";

/**
 * How many receipts become durable in a second: without a comparison of the index, and during one. `comparing` is 0 if
 * the comparison ended too soon.
 */
export type ComparingRates = { quiet: number; comparing: number };

/** The most measurements of each kind. The best result counts, because the machine may be busy with something else. */
const MOST = 3;

/** Measures one service on a ledger before, during and after a comparison of its index. */
export async function comparingRates(
  ledgerDir: string,
  clients: number,
  each: number,
): Promise<ComparingRates> {
  // A service does not continue a ledger without a record of the last signature. So here is a record that nothing was
  // signed.
  await writeLastSigned(path.join(ledgerDir, "local"), { size: 0, root: toHex(EMPTY_ROOT) });
  const server = await startSettlement(ledgerDir, { CHECKPOINT_PRIVATE_KEY: `0x${"11".repeat(32)}` });
  // Larger than the numbers of the receipts in the ledger.
  let from = 1e9;
  const rate = async (): Promise<number> => {
    const receipts = await signReceipts(each, from);
    from += each;
    const start = performance.now();
    await sendAll(server.port, clients, receipts);
    return each / ((performance.now() - start) / 1_000);
  };
  const state = async (): Promise<VerificationState> =>
    (
      (await (await fetch(`http://127.0.0.1:${server.port}/health`)).json()) as {
        verification: VerificationState;
      }
    ).verification;
  const until = async (holds: (of: VerificationState) => boolean): Promise<void> => {
    while (!holds(await state())) await pause(100);
  };
  try {
    await until(({ unread }) => unread === 0);
    await rate();
    const rates: ComparingRates = { quiet: await rate(), comparing: 0 };
    await until(({ comparing }) => comparing !== null);
    for (let n = 0; n < MOST; n++) {
      const during = await rate();
      if ((await state()).comparing === null) break;
      rates.comparing = Math.max(rates.comparing, during);
    }
    await until(({ comparing }) => comparing === null);
    for (let n = 1; n < MOST; n++) rates.quiet = Math.max(rates.quiet, await rate());
    return rates;
  } finally {
    await server.kill();
  }
}
