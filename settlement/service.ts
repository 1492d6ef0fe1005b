import path from "node:path";
import type { Hono } from "hono";
import { http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { anchorContract } from "./anchoring/anchorContract.ts";
import { Anchorer } from "./anchoring/anchorer.ts";
import { contractSignature } from "./anchoring/contractSignature.ts";
import { createApp } from "./app.ts";
import type { AnchoringConfig, SettlementConfig } from "./config.ts";
import { HeldProposals } from "./engine/heldProposals.ts";
import { LedgerIndex } from "./engine/ledgerIndex.ts";
import { SettlementEngine } from "./engine/settlementEngine.ts";
import { DiskLedger } from "./ledger/diskLedger.ts";
import type { Log } from "./log.ts";

/** A settlement service without its port. */
export type SettlementService = {
  app: Hono;
  ledger: DiskLedger;
  /** Ends anchoring, waits until everything is on disk, gives the ledger free. */
  close: () => Promise<void>;
};

export type OpenServiceParameters = {
  config: SettlementConfig;
  /** The time, in seconds since 1970, with fractions. */
  now: () => number;
  log: Log;
  /** Told when the ledger can no longer be written: the process should end. */
  onFailure: (error: Error) => void;
};

/** How long to let a round of anchoring finish when the service stops, in milliseconds. */
const ANCHOR_GRACE_MS = 2_000;

/**
 * Opens the ledger of a configuration, verifies it, and puts everything together.
 *
 * @throws LedgerLineError when the ledger is not what was written; TallystickError `ledger_locked` when it has a writer
 */
export async function openService(parameters: OpenServiceParameters): Promise<SettlementService> {
  const { config, now, log, onFailure } = parameters;
  const index = new LedgerIndex();
  const folder = path.resolve(config.ledgerDir, config.ledger);
  const onEntry = index.add.bind(index);
  const ledger = await DiskLedger.open({ folder, onEntry, onFailure });
  if (ledger.repair) {
    const { kind, line, bytes } = ledger.repair;
    const sentence =
      kind === "cut"
        ? "The last line of the ledger was half written and has been cut; it had not been answered as settled."
        : "The last line of the ledger lacked its newline and has been completed.";
    log(sentence, { line, bytes, file: ledger.path });
  }
  const held = await HeldProposals.open(folder, onFailure).catch(async (error) => {
    await ledger.close();
    throw error;
  });

  if (held.cutBytes > 0) {
    log("The last held proposal was half written and has been cut; it had not been answered.", {
      bytes: held.cutBytes,
    });
  }

  const { minConfidence, maxDriftAllowed } = config;
  const engine = new SettlementEngine({
    ledger,
    index,
    held,
    rules: { minConfidence, maxDriftAllowed },
    now,
    devMode: config.devMode,
    ...(config.rpcUrl !== undefined && { isContractSignature: contractSignature(http(config.rpcUrl)) }),
  });
  const anchorer = config.anchoring && createAnchorer(config.anchoring, config, ledger, log);
  const stopListening = ledger.onGrowth(() => anchorer?.grown());
  anchorer?.start();

  const app = createApp({
    engine,
    ledger,
    index,
    held,
    ledgerName: { ledger: config.ledger, origin: config.origin },
    apiKeys: config.apiKeys,
    ...(anchorer && { anchoring: () => anchorer.state }),
    log,
  });
  return {
    app,
    ledger,
    close: async () => {
      stopListening();
      if (anchorer) await Promise.race([anchorer.stop(), later(ANCHOR_GRACE_MS)]);
      await held.close();
      await ledger.close();
    },
  };
}

function createAnchorer(
  anchoring: AnchoringConfig,
  { ledger, origin }: SettlementConfig,
  { tree }: DiskLedger,
  log: Log,
): Anchorer {
  const intervalMs = anchoring.intervalSeconds * 1_000;
  const contract = anchorContract({
    transport: http(anchoring.rpcUrl),
    account: privateKeyToAccount(anchoring.privateKey),
    chainId: anchoring.chainId,
    contract: anchoring.contract,
    ledgerId: ledger as `0x${string}`,
    origin,
    pollingIntervalMs: Math.min(2_000, Math.max(100, intervalMs / 4)),
  });
  const { maxEntries } = anchoring;
  return new Anchorer({ contract, tree, intervalMs, maxEntries, log });
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
