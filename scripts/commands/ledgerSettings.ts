import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient } from "viem";
import {
  type LedgerOnChain,
  readLedgerOnChain,
} from "../../services/settlement/anchoring/readLedgerOnChain.ts";
import { readConfig, type SettlementConfig } from "../../services/settlement/config.ts";
import { completedSettings } from "../start/completedSettings.ts";

/** The settings of the settlement service that `.env` and the shell describe, completed as `npm start` completes them. */
export async function ledgerConfig(): Promise<SettlementConfig> {
  return readConfig(await completedSettings());
}

/** The folder of the configured ledger. */
export function ledgerFolder({ ledgerDir, ledger }: SettlementConfig): string {
  return path.resolve(ledgerDir, ledger);
}

/**
 * Reads the configured ledger from its contract.
 *
 * @throws TallystickError `not_anchored` when the ledger is not anchored; `chain_unavailable` when the chain
 * does not answer
 */
export async function askChain({ anchoring, ledger }: SettlementConfig): Promise<LedgerOnChain> {
  if (anchoring === undefined || ledger === "local") {
    throw new TallystickError({
      code: "not_anchored",
      message: "The settings name no ledger on a chain.",
      hint: "Use the service's own ANCHOR_PRIVATE_KEY, ANCHORED_LEDGER, RPC_URL and CHAIN_ID.",
    });
  }
  const client = createPublicClient({ transport: rpcTransport(anchoring.rpcUrl), cacheTime: 0 });
  try {
    return await readLedgerOnChain({ ...anchoring, client, ledgerId: ledger, confirmations: 0 });
  } catch (cause) {
    if (cause instanceof TallystickError) throw cause;
    const message = `The chain could not be asked: ${(cause as Error).message.split("\n")[0]}`;
    throw new TallystickError({ code: "chain_unavailable", message, hint: "Check RPC_URL.", cause });
  }
}
