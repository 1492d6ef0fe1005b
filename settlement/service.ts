import path from "node:path";
import type { Hono } from "hono";
import { http, type LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { Address } from "../protocol/address.ts";
import { fromHex } from "../protocol/hex.ts";
import type { ProofBundle } from "../protocol/proof/proofBundle.ts";
import { recoverByWasm } from "../protocol/signatures/recoverByWasm.ts";
import { anchorContract } from "./anchoring/anchorContract.ts";
import { Anchorer } from "./anchoring/anchorer.ts";
import { AnchorLog, type AnchorRecord } from "./anchoring/anchorLog.ts";
import { contractSignature } from "./anchoring/contractSignature.ts";
import { createApp } from "./app.ts";
import { xClaimChecker } from "./claims/claimChecker.ts";
import { ClaimDesk } from "./claims/claimDesk.ts";
import type { AnchoringConfig, ClaimsConfig, SettlementConfig } from "./config.ts";
import { HeldProposals } from "./engine/heldProposals.ts";
import { defaultRules, readRules } from "./engine/institutionalRules.ts";
import { LedgerIndex } from "./engine/ledgerIndex.ts";
import { RuleBook } from "./engine/ruleBook.ts";
import { SettlementEngine } from "./engine/settlementEngine.ts";
import { ApiKeys } from "./keys/apiKeys.ts";
import { DiskLedger } from "./ledger/diskLedger.ts";
import type { Log } from "./log.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { checkpointKey } from "./proofs/checkpointKey.ts";
import { Checkpoints } from "./proofs/checkpoints.ts";
import { Pulse, type PulseParameters } from "./pulse.ts";
import type { IsContractSignature } from "./signatures/checkSignature.ts";
import { type ReadSignature, readSignatureHere } from "./signatures/readSignature.ts";
import { SignatureReaders } from "./signatures/signatureReaders.ts";

/** A settlement service without its port. */
export type SettlementService = {
  app: Hono;
  ledger: DiskLedger;
  /** Whether nobody has a key to settle proposals with. */
  isClosed: () => Promise<boolean>;
  /** Makes the ledger read itself back and settle a pulse now; absent when it has no pulse. */
  beat?: () => Promise<void>;
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

/** A client waits for the chain's answer about its signature: better no answer than a late one. */
const ASKING = { timeout: 5_000, retryCount: 1 };

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
  const { rulesFile } = config;
  const ruleBook = new RuleBook(
    rulesFile === undefined ? defaultRules(config) : readRules(rulesFile, config),
  );
  const folder = path.resolve(config.ledgerDir, config.ledger);
  let metrics: Metrics | undefined;
  const ledger = await DiskLedger.open({
    folder,
    onEntry: (entry, at) => {
      index.add(entry, at);
      ruleBook.add(entry);
    },
    onFailure,
    onUndone: (error) => {
      metrics?.countRefusedWrite();
      log("The disk refused a write; it was undone and answered with 503.", { reason: error.message });
    },
  });
  sayRepair(ledger, log);
  let held: HeldProposals | undefined;
  try {
    const kept = await HeldProposals.open(folder, onFailure);
    held = kept;
    if (kept.cutBytes > 0) {
      log("The last held proposal was half written and has been cut; it had not been answered.", {
        bytes: kept.cutBytes,
      });
    }
    const recover = await recoverByWasm();
    const readers = new SignatureReaders({ here: readSignatureHere(recover), log });
    const isContractSignature =
      config.rpcUrl === undefined ? undefined : contractSignature(http(config.rpcUrl, ASKING));
    const attestor = config.claims && privateKeyToAccount(config.claims.privateKey);
    const engine = new SettlementEngine({
      ledger,
      index,
      ruleBook,
      held: kept,
      now,
      mode: config.mode,
      devMode: config.devMode,
      operator: config.operator,
      claimAttestor: attestor && (attestor.address.toLowerCase() as Address),
      readSignature: readers.read,
      ...(isContractSignature && { isContractSignature }),
    });
    await engine.finishReleases();

    const anchorLog = await AnchorLog.open(folder);
    const anchorer = config.anchoring && createAnchorer(config.anchoring, config, ledger, anchorLog, log);
    const stopListening = ledger.onGrowth(() => anchorer?.grown());
    const anchoring = anchorer && (() => anchorer.state);
    metrics = createMetrics({ ledger, held: kept, index, anchoring });
    const pulse = createPulse({ config, engine, ledger, now, log, onFailure });

    const apiKeys = new ApiKeys({ keys: config.apiKeys, file: path.resolve(config.keysFile) });
    const app = createApp({
      engine,
      ledger,
      index,
      held: kept,
      ruleBook,
      ledgerName: { ledger: config.ledger, origin: config.origin },
      recover,
      apiKeys,
      rateLimits: config.rateLimits,
      checkpoints: await createCheckpoints(config, folder, ledger),
      identity: identityOf(config),
      lastAnchor: () => anchorer && anchorLog.last(anchorer.state),
      ...(config.claims &&
        attestor && {
          claimDesk: createClaimDesk(config.claims, attestor, {
            engine,
            now,
            isContractSignature,
            readSignature: readers.read,
          }),
        }),
      ...(anchoring && { anchoring }),
      metrics,
      now,
      log,
    });
    anchorer?.start();
    pulse?.start();
    return {
      app,
      ledger,
      isClosed: () => apiKeys.isEmpty(),
      ...(pulse && { beat: () => pulse.beat() }),
      close: async () => {
        stopListening();
        await pulse?.stop();
        if (anchorer) await Promise.race([anchorer.stop(), later(ANCHOR_GRACE_MS)]);
        await readers.close();
        await kept.close();
        await ledger.close();
      },
    };
  } catch (error) {
    await held?.close();
    await ledger.close();
    throw error;
  }
}

function sayRepair({ repair, path: file }: DiskLedger, log: Log): void {
  if (!repair) return;
  const { kind, line, bytes } = repair;
  const sentence =
    kind === "cut"
      ? "The last line of the ledger was half written and has been cut; it had not been answered as settled."
      : "The last line of the ledger lacked its newline and has been completed.";
  log(sentence, { line, bytes, file });
}

function identityOf({ ledger, anchoring }: SettlementConfig): ProofBundle["ledger"] {
  if (!anchoring || ledger === "local") return null;
  const { chainId: chain_id, contract, writer } = anchoring;
  return { id: ledger, chain_id, contract, writer };
}

async function createCheckpoints(
  { origin, anchoring, ledger: id, checkpointPrivateKey }: SettlementConfig,
  folder: string,
  { tree }: DiskLedger,
): Promise<Checkpoints> {
  const secretKey =
    checkpointPrivateKey === undefined ? await checkpointKey(folder) : fromHex(checkpointPrivateKey, 32);
  const writer =
    anchoring && id !== "local"
      ? { ...anchoring, ledgerId: id, account: privateKeyToAccount(anchoring.privateKey) }
      : undefined;
  return new Checkpoints({ origin, tree, secretKey, writer });
}

function createClaimDesk(
  { privateKey, xApiUrl, xApiKey }: ClaimsConfig,
  attestor: LocalAccount,
  rest: {
    engine: SettlementEngine;
    now: () => number;
    isContractSignature: IsContractSignature | undefined;
    readSignature: ReadSignature;
  },
): ClaimDesk {
  const { engine, now, isContractSignature, readSignature } = rest;
  return new ClaimDesk({
    attestor,
    secret: fromHex(privateKey, 32),
    checker: xClaimChecker({ url: xApiUrl, apiKey: xApiKey }),
    engine,
    now,
    readSignature,
    ...(isContractSignature && { isContractSignature }),
  });
}

function createPulse(
  parameters: Omit<PulseParameters, "operator" | "intervalMs"> & { config: SettlementConfig },
): Pulse | undefined {
  const { config, ...rest } = parameters;
  const { operatorPrivateKey, pulseIntervalSeconds, mode } = config;
  if (operatorPrivateKey === undefined || pulseIntervalSeconds === 0 || mode === "sandbox") return undefined;
  const operator = privateKeyToAccount(operatorPrivateKey);
  return new Pulse({ ...rest, operator, intervalMs: pulseIntervalSeconds * 1_000 });
}

function createAnchorer(
  anchoring: AnchoringConfig,
  { ledger, origin }: SettlementConfig,
  { tree }: DiskLedger,
  anchorLog: AnchorLog,
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
  const onAnchored = (anchor: AnchorRecord) => anchorLog.add(anchor);
  return new Anchorer({ contract, tree, intervalMs, maxEntries, log, onAnchored });
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
