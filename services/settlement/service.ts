import path from "node:path";
import type { Hono } from "hono";
import type { Address } from "tallystick-protocol/address";
import type { TallystickError } from "tallystick-protocol/errors";
import { fromHex, type Hex } from "tallystick-protocol/hex";
import type { ProofBundle } from "tallystick-protocol/proof/proofBundle";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { addressOf } from "tallystick-protocol/signatures/signHash";
import { type ReadSignature, readSignatureHere } from "tallystick-runtime/signatures/readSignature";
import type { Log } from "tallystick-runtime/stderrLog";
import { resolveHost } from "tallystick-sdk/net/resolveHost";
import type { LocalAccount } from "viem";
import { createApp } from "./app.ts";
import { ClaimDesk } from "./claims/claimDesk.ts";
import type { SettlementConfig } from "./config.ts";
import { HeldProposals } from "./engine/heldProposals.ts";
import { IndexRetry } from "./engine/indexRetry.ts";
import { defaultRules, readRules } from "./engine/institutionalRules.ts";
import { LedgerClock } from "./engine/ledgerClock.ts";
import { LedgerIndex } from "./engine/ledgerIndex.ts";
import { RuleBook } from "./engine/ruleBook.ts";
import { SettlementEngine, type SettlementEngineParameters } from "./engine/settlementEngine.ts";
import { FileStore } from "./erc8004/fileStore.ts";
import { countChainQuestion } from "./http/rateLimits.ts";
import { ApiKeys } from "./keys/apiKeys.ts";
import { DiskLedger } from "./ledger/diskLedger.ts";
import { causeOf, LedgerGate } from "./ledger/ledgerGate.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { NoticeStore } from "./notices/noticeStore.ts";
import type { Notices } from "./notices/notices.ts";
import { HourlyOutcomes } from "./outcomes/hourlyOutcomes.ts";
import { RejectedWork } from "./outcomes/rejectedWork.ts";
import { checkpointKeys } from "./proofs/checkpointKey.ts";
import { Pulse, type PulseParameters } from "./pulse.ts";
import { checkSignature, type IsContractSignature } from "./signatures/checkSignature.ts";
import { SignatureReaders } from "./signatures/signatureReaders.ts";
import { beginSigned, openSigning, type Signing } from "./signing.ts";
import { chainAnswersNow } from "./standby/chainAnswers.ts";
import { takeHeldRows } from "./standby/heldRows.ts";
import { openSharedStore, type SharedLedger, type Standby } from "./standby/openSharedStore.ts";
import { LedgerVerifier } from "./verifying/ledgerVerifier.ts";

/** A settlement service without its port. */
export type SettlementService = {
  app: Hono;
  ledger: DiskLedger;
  /** True if there is no key with which somebody can settle proposals. */
  isClosed: () => Promise<boolean>;
  /** Reads the ledger back and settles a pulse now; absent when the service settles no pulses. */
  beat?: () => Promise<void>;
  /** Settles the outcomes of every hour that is over; absent without an operator's key, and in a sandbox. */
  tellOutcomes?: () => Promise<void>;
  /** Ends anchoring, waits until everything is on disk, and unlocks the ledger. */
  close: () => Promise<void>;
};

export type OpenServiceParameters = Standby & {
  config: SettlementConfig;
  /** The time, in seconds since 1970, with fractions. */
  now: () => number;
  log: Log;
  /** Called when the ledger can no longer be written. The process should end. */
  onFailure: (error: Error) => void;
};

/**
 * How long to wait for the chain's answer about a signature, in milliseconds. A client waits for it, so a
 * refusal is better than a late answer.
 */
const ASKING = { timeout: 5_000, retryCount: 1 };

/**
 * How long a client waits for the shared store, in milliseconds. After that the answer is `outcome_unknown`.
 */
const ANSWER_MS = 10_000;

/**
 * Opens and verifies the ledger of a configuration. With a shared store it then waits until this process may write.
 * After that it puts all parts together.
 *
 * @throws LedgerLineError when the ledger is not what was written; TallystickError `ledger_locked` when another
 * process writes it
 */
export async function openService(parameters: OpenServiceParameters): Promise<SettlementService> {
  const { config, now, log, onFailure } = parameters;
  const { folder, ruleBook, gate, backgroundWork, index, clock, ledger, measure, serve, shown, verify } =
    await openLedger(parameters);
  const opened: Opened = { backgroundWork, ledger, index };
  const close = () => closeAll(opened);
  try {
    // A stand-by machine reads the ledger while it waits for its turn to write.
    if (config.sharedStore) verify();
    const shared = await waitForTurn(parameters, { ledger, folder, gate });
    opened.shared = shared;
    // `recallActions` counts what the entries in the index spent. From `serve` on, each new entry is counted when it is
    // added. With an earlier `serve`, the entries that the index lacked at the start would be counted twice.
    serve();
    await recallActions(ruleBook, index, ledger);
    if (ledger.size > 0) clock.entry((await ledger.envelope(ledger.size - 1)).timestamp);
    const kept = await HeldProposals.open(folder, onFailure);
    opened.held = kept;
    if (shared) {
      await takeHeldRows(kept, shared.store);
      kept.shareBy(shared.hold);
    }
    await takeUpHeld(kept, { index, ledger, log });
    const operator = await outcomesOperator(config);
    const rejected = operator && (await RejectedWork.open(folder, index.toldHour ?? -1, onFailure));
    opened.rejected = rejected;
    const recover = await recoverByWasm();
    const readers = new SignatureReaders({ here: readSignatureHere(recover), log });
    opened.readers = readers;
    const isContractSignature = await isContractSignatureBy(config, log);
    const signatures = { isContractSignature, readSignature: readers.read };
    const parts = { ledger, index, ruleBook, held: kept, clock, now };
    const engine = createEngine(config, { ...parts, ...(rejected && { rejected }), ...signatures });
    const signs = await openSigning({ config, folder, ledger, gate, clock, now, log });
    opened.signing = signs;
    await finishReleasesWhenOpen(engine, gate, log);
    const metrics = measure(createMetrics({ ledger, held: kept, now, ...shown, ...signs.shown }));
    const pulse = await createPulse({ config, engine, ledger, now, log, onFailure });
    opened.pulse = pulse;
    const outcomes =
      operator && rejected && new HourlyOutcomes({ ...parts, engine, rejected, operator, log });
    opened.outcomes = outcomes;

    const notices = openNotices(config, folder, { ...signatures, clock });
    opened.notices = notices;
    const files = new FileStore(folder);
    opened.files = files;
    const claimDesk = await createClaimDesk(config, { engine, now, ...signatures });
    const apiKeys = new ApiKeys({ keys: config.apiKeys, file: path.resolve(config.keysFile) });
    const app = createApp({
      engine,
      ledger,
      index,
      held: kept,
      ruleBook,
      recover,
      checkSignature: (record) => checkSignature(record, isContractSignature, readers.read),
      files,
      apiKeys,
      ...signs.shown,
      ...shown,
      ...namesOf(config),
      ...(claimDesk && { claimDesk }),
      ...(notices && { notices }),
      metrics,
      now,
      log,
    });
    // Without a shared store the reading threads start only now, so that they and the opening do not need memory at the
    // same time.
    if (!config.sharedStore) verify();
    signs.start();
    pulse?.start();
    outcomes?.start();
    return {
      app,
      ledger,
      isClosed: () => apiKeys.isEmpty(),
      ...(pulse && { beat: () => pulse.beat() }),
      ...(outcomes && { tellOutcomes: () => outcomes.tell() }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits until this process may write the ledger. Without a shared store it does not wait. */
async function waitForTurn(
  parameters: OpenServiceParameters,
  parts: Pick<Awaited<ReturnType<typeof openLedger>>, "ledger" | "folder" | "gate">,
): Promise<SharedLedger | undefined> {
  const { config } = parameters;
  if (config.sharedStore === undefined) return undefined;
  // Otherwise a machine with another key would find this out only when it takes over.
  if (config.checkpointPrivateKey !== undefined)
    await checkpointKeys(parts.folder, parts.ledger, fromHex(config.checkpointPrivateKey, 32));
  await beginSigned({ config, ...parts });
  const { ledgerName } = namesOf(config);
  const { anchoring } = config;
  const chainAnswers = anchoring && (() => chainAnswersNow(anchoring, parameters.now));
  return openSharedStore({
    ...{ ...parameters, ...parts, ledgerName, chainAnswers },
    config: config.sharedStore,
  });
}

/** The parts of a service that are open so far. */
type Opened = Pick<Awaited<ReturnType<typeof openLedger>>, "backgroundWork" | "ledger" | "index"> & {
  shared?: SharedLedger | undefined;
  held?: HeldProposals;
  signing?: Signing;
  readers?: SignatureReaders;
  pulse?: Pulse | undefined;
  notices?: Notices | undefined;
  files?: FileStore;
  rejected?: RejectedWork | undefined;
  outcomes?: HourlyOutcomes | undefined;
};

/** Closes the parts. A part that writes is closed before the part that it writes to. */
async function closeAll(opened: Opened): Promise<void> {
  const { backgroundWork, ledger, index, shared, signing, readers, held, rejected, notices, files } = opened;
  await shared?.stop();
  await opened.pulse?.stop();
  await opened.outcomes?.stop();
  await signing?.stop();
  await readers?.close();
  for (const work of backgroundWork) await work.stop();
  await held?.close();
  await rejected?.close();
  await ledger.close();
  await shared?.close();
  index.close();
  for (const it of [notices?.store, files]) it?.close();
}

/** The settings that the routes use unchanged. */
function namesOf(config: SettlementConfig) {
  return {
    ledgerName: { ledger: config.ledger, origin: config.origin },
    rateLimits: config.rateLimits,
    identity: identityOf(config),
  };
}

/** Makes the engine from its parts and the configuration. */
function createEngine(
  config: SettlementConfig,
  {
    isContractSignature,
    ...parts
  }: Pick<
    SettlementEngineParameters,
    "ledger" | "index" | "ruleBook" | "held" | "rejected" | "clock" | "now"
  > &
    Pick<SettlementEngineParameters, "readSignature"> & {
      isContractSignature: IsContractSignature | undefined;
    },
): SettlementEngine {
  return new SettlementEngine({
    ...parts,
    ledgerName: config.ledger,
    ...(config.sharedStore && { answerWithinMs: ANSWER_MS }),
    mode: config.mode,
    devMode: config.devMode,
    chainId: config.anchoring?.chainId,
    resolveHost,
    operator: config.operator,
    claimAttestor: claimAttestorOf(config),
    ...(isContractSignature && { isContractSignature }),
  });
}

/** Opens a ledger with its index and its rules, from what is on disk. After an error nothing stays open. */
async function openLedger({ config, now, log, onFailure }: OpenServiceParameters) {
  const { rulesFile } = config;
  const ruleBook = new RuleBook(
    rulesFile === undefined ? defaultRules(config) : readRules(rulesFile, config),
  );
  const folder = path.resolve(config.ledgerDir, config.ledger);
  const gate = new LedgerGate(log);
  const indexRetry = new IndexRetry(gate, log);
  const verifier = new LedgerVerifier({ gate, log, now, ...config.verification });
  const index = new LedgerIndex(folder, {
    ledger: config.ledger,
    onFailure,
    onBehind: (error) => indexRetry.refused(error),
  });
  const clock = new LedgerClock({ now, gate, limitSeconds: config.anchoring?.clockLimitSeconds ?? 0 });
  let metrics: Metrics | undefined;
  let isServed = false;
  const ledger = await DiskLedger.open({
    folder,
    openStore: () => index.openStore(),
    onEntry: (entry, at, end) => {
      // With an index that lacks an entry, the same record could be settled twice. So an error here ends the ledger.
      index.add(entry, at, end);
      if (isServed) ruleBook.add(entry);
    },
    onFailure,
    onSynced: (seconds) => metrics?.observeSync(seconds),
    onUndone: (error) => {
      metrics?.countRefusedWrite();
      log("The disk refused a write. The write was undone; the answer was 503.", { reason: error.message });
    },
  }).catch((error) => {
    index.close();
    throw error;
  });
  sayRepair(ledger, log);
  indexRetry.attach(index, ledger);
  verifier.keep(index, ledger);
  const measure = (by: Metrics): Metrics => {
    metrics = by;
    return by;
  };
  // After this call the rule book counts what each new entry spends. What earlier entries spent comes from the index.
  const serve = (): void => {
    isServed = true;
  };
  const shown = { gate, verification: () => verifier.state };
  const backgroundWork = [verifier, indexRetry];
  const verify = () => verifier.start();
  return { folder, ruleBook, gate, backgroundWork, index, clock, ledger, measure, serve, shown, verify };
}

/** Counts the allowed actions that are recent enough for the longest budget. */
async function recallActions(ruleBook: RuleBook, index: LedgerIndex, ledger: DiskLedger): Promise<void> {
  for (const at of index.actionsWithin(ruleBook.longestBudget)) ruleBook.add(await ledger.entry(at));
}

async function takeUpHeld(
  held: HeldProposals,
  { index, ledger, log }: { index: LedgerIndex; ledger: DiskLedger; log: Log },
): Promise<void> {
  await held.takeReviews({
    reviewOf: (id) => index.reviewOf(id),
    // A line that cannot be read is found, and named, when the whole ledger is read. It must not prevent the start.
    hashAt: async (at) =>
      at < ledger.size ? (await ledger.envelope(at).catch(() => undefined))?.currentHash : undefined,
  });
  if (held.cutBytes === 0) return;
  log("The last held proposal was half written and has been cut. No client had an answer about it.", {
    bytes: held.cutBytes,
  });
}

/** Settles released proposals that are not settled yet: now, or as soon as the ledger may be written. */
async function finishReleasesWhenOpen(engine: SettlementEngine, gate: LedgerGate, log: Log): Promise<void> {
  const finish = async (): Promise<void> => {
    for (const { id, reason } of await engine.finishReleases())
      log("A released proposal cannot be settled here.", { id, reason: reason.message, hint: reason.hint });
  };
  gate.onChange(() => {
    if (gate.refusal) return;
    finish().catch((error) => log("A released proposal could not be settled yet.", { error }));
  });
  await engine.reserveReleases();
  if (!gate.refusal) await finish();
}

/** The check of a contract wallet's signature, at the latest block; undefined without a chain. */
async function isContractSignatureBy(
  { rpcUrl, anchoring }: SettlementConfig,
  log: Log,
): Promise<IsContractSignature | undefined> {
  if (rpcUrl === undefined) return undefined;
  const [{ createPublicClient }, { askWallet }, { rpcTransport }] = await Promise.all([
    import("viem"),
    import("tallystick-protocol/erc1271/askWallet"),
    import("tallystick-sdk/net/rpcTransport"),
  ]);
  const witness = anchoring?.contract;
  const client = createPublicClient({ transport: rpcTransport(rpcUrl, ASKING) });
  let isSilent = false;
  return async (question) => {
    countChainQuestion();
    try {
      const answer = await askWallet(client, question, witness);
      isSilent = false;
      return answer === "yes";
    } catch (error) {
      // Only the first failure is logged until the chain answers again, because strangers can ask many times.
      if (!isSilent)
        log("A contract wallet could not be asked.", { error, ...causeOf(error as TallystickError) });
      isSilent = true;
      throw error;
    }
  };
}

function sayRepair({ repair, path: file }: DiskLedger, log: Log): void {
  if (!repair) return;
  const { kind, line, bytes } = repair;
  const sentence =
    kind === "cut"
      ? "The last line of the ledger was half written and has been cut. No client was told that it is settled."
      : "The last line of the ledger lacked its newline and has been completed.";
  log(sentence, { line, bytes, file });
}

function identityOf({ ledger, anchoring }: SettlementConfig): ProofBundle["ledger"] {
  if (!anchoring || ledger === "local") return null;
  const { chainId: chain_id, contract, firstWriter: first_writer, writer, guardian } = anchoring;
  return { id: ledger, chain_id, contract, first_writer, guardian, writer };
}

function claimAttestorOf({ claims }: SettlementConfig): Address | undefined {
  return claims && addressOf(claims.privateKey);
}

async function createClaimDesk(
  { claims, devMode }: SettlementConfig,
  rest: {
    engine: SettlementEngine;
    now: () => number;
    isContractSignature: IsContractSignature | undefined;
    readSignature: ReadSignature;
  },
): Promise<ClaimDesk | undefined> {
  if (claims === undefined) return undefined;
  const { xClaimChecker } = await import("./claims/claimChecker.ts");
  const { privateKey, xApiUrl, xApiKey } = claims;
  const { engine, now, isContractSignature, readSignature } = rest;
  return new ClaimDesk({
    attestor: await accountOf(privateKey),
    secret: fromHex(privateKey, 32),
    checker: xClaimChecker({ url: xApiUrl, apiKey: xApiKey, devMode }),
    engine,
    now,
    readSignature,
    ...(isContractSignature && { isContractSignature }),
  });
}

function openNotices(
  { notifier: sender, devMode }: SettlementConfig,
  folder: string,
  parts: {
    isContractSignature: IsContractSignature | undefined;
    readSignature: ReadSignature;
    clock: LedgerClock;
  },
): Notices | undefined {
  if (sender === undefined) return undefined;
  const { isContractSignature, readSignature, clock } = parts;
  return {
    ...{ store: new NoticeStore(folder), sender, devMode },
    checkSignature: (record) => checkSignature(record, isContractSignature, readSignature),
    requireClock: () => clock.requireRight(),
  };
}

/** The account that signs the outcomes of agents' proposals; undefined without the operator's key, or in a sandbox. */
async function outcomesOperator({ operatorPrivateKey, mode }: SettlementConfig) {
  if (operatorPrivateKey === undefined || mode === "sandbox") return undefined;
  return accountOf(operatorPrivateKey);
}

/** Loading viem takes a third of a start's time and memory, so it is loaded only where it is needed. */
async function accountOf(privateKey: Hex): Promise<LocalAccount> {
  const { privateKeyToAccount } = await import("viem/accounts");
  return privateKeyToAccount(privateKey);
}

async function createPulse(
  parameters: Omit<PulseParameters, "operator" | "intervalMs"> & { config: SettlementConfig },
): Promise<Pulse | undefined> {
  const { config, ...rest } = parameters;
  const { operatorPrivateKey, pulseIntervalSeconds, mode } = config;
  if (operatorPrivateKey === undefined || pulseIntervalSeconds === 0 || mode === "sandbox") return undefined;
  const operator = await accountOf(operatorPrivateKey);
  return new Pulse({ ...rest, operator, intervalMs: pulseIntervalSeconds * 1_000 });
}
