import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { fromHex } from "tallystick-protocol/hex";
import { asOurOwn } from "tallystick-runtime/http/requestScope";
import type { Log } from "tallystick-runtime/stderrLog";
import type { Anchorer } from "./anchoring/anchorer.ts";
import { AnchorLog } from "./anchoring/anchorLog.ts";
import type { WriterSigner } from "./anchoring/writerSigner.ts";
import type { AppDependencies } from "./appDependencies.ts";
import type { SettlementConfig } from "./config.ts";
import type { LedgerClock } from "./engine/ledgerClock.ts";
import type { DiskLedger } from "./ledger/diskLedger.ts";
import type { LedgerGate } from "./ledger/ledgerGate.ts";
import { makeFolder } from "./ledger/makeFolder.ts";
import { SignedHistory } from "./ledger/signedHistory.ts";
import { CheckpointClock } from "./proofs/checkpointClock.ts";
import { checkpointKeys } from "./proofs/checkpointKey.ts";
import { Checkpoints } from "./proofs/checkpoints.ts";
import { StaticLog } from "./staticLog/staticLog.ts";
import { Witnesses } from "./witnessing/witnesses.ts";

/** The signing parts of a service: its checkpoints and anchors, and the checks before them. */
export type Signing = {
  /** The parts that routes and metrics use. */
  shown: Pick<AppDependencies, "checkpoints" | "transactionOf" | "anchoring" | "witnesses">;
  /** Starts the clocks. */
  start: () => void;
  /** Ends the clocks. A transaction that was sent stays valid. */
  stop: () => Promise<void>;
};

export type OpenSigningParameters = {
  config: SettlementConfig;
  folder: string;
  ledger: DiskLedger;
  gate: LedgerGate;
  clock: LedgerClock;
  /** Unix seconds. */
  now: () => number;
  log: Log;
};

/**
 * The shortest time between two checkpoints, in milliseconds. Together with the time to make one and to ask the
 * witnesses, nobody waits longer than a second.
 */
const CHECKPOINT_MS = 900;

/**
 * The shortest time between two writes of the static log, in milliseconds. Each write makes several files.
 */
const STATIC_LOG_MS = 2_000;

/** How long a start waits for the chain, and then again for the witnesses, in milliseconds. Then the start goes on. */
const FIRST_LOOK_MS = 5_000;

/** How long the service waits for a round of anchoring when it stops, in milliseconds. */
const ANCHOR_GRACE_MS = 2_000;

/**
 * Compares the ledger with what was signed last and with the chain. Then makes the first checkpoint, if nothing
 * contradicts the ledger, and asks the witnesses. `start` of the result begins the regular checkpoints and anchors.
 */
export async function openSigning(given: OpenSigningParameters): Promise<Signing> {
  const parameters = { ...given, config: withoutSandboxAnchors(given.config) };
  const { config, folder, ledger, gate, log } = parameters;
  const { tree } = ledger;
  const ending = new AbortController();
  const history = await SignedHistory.open({ folder, tree, gate, checkFile: () => ledger.checkFile() });
  // This loads viem only if there is a chain, because viem takes some 40 MB and a third of the time of a start.
  const chain = config.anchoring && (await import("./anchoring/openAnchorer.ts"));
  const signer = config.anchoring && chain?.writerSigner(config.anchoring, ending.signal);
  const words = await openWords(parameters);
  const checkpoints = new Checkpoints({
    origin: config.origin,
    tree,
    keys: await checkpointKeys(
      folder,
      tree,
      config.checkpointPrivateKey && fromHex(config.checkpointPrivateKey, 32),
    ),
    gate,
    history,
    writer: headWriter(config, signer),
  });
  const witnesses = createWitnesses(parameters, checkpoints);
  const checkpointClock = new CheckpointClock({
    make: async () => {
      if (!gate.maySign) return;
      await checkpoints.make();
      witnesses?.offer(checkpoints.latest());
      staticLog?.want();
    },
    everyMs: CHECKPOINT_MS,
    log,
  });
  const staticLog = await openStaticLog(parameters, checkpoints);
  const anchorLog = await AnchorLog.open(folder);
  const anchorer =
    config.anchoring &&
    signer &&
    chain?.createAnchorer(config.anchoring, {
      ...parameters,
      history,
      words,
      signer,
      signal: ending.signal,
      checkpoints,
      anchorLog,
      witnesses,
    });
  if (anchorer) await firstLook(anchorer, log);
  if (gate.maySign) {
    await checkpoints.make().catch((error) => log("No checkpoint could be made yet.", { error }));
  }
  if (witnesses) await firstAnswers(witnesses, checkpoints, gate);
  const stopListening = ledger.onGrowth(() =>
    asOurOwn(() => {
      checkpointClock.want();
      anchorer?.grown();
    }),
  );
  gate.onChange(() => {
    checkpointClock.want();
    // The chain may be the reason. Then only its answer opens the gate again, so the next round starts now.
    if (gate.refusal) anchorer?.wake();
  });
  return {
    shown: {
      checkpoints,
      transactionOf: (anchor) => {
        // If the contract has fewer entries than this anchor, a reorganization undid the anchor.
        return anchorer && anchorer.state.size >= anchor.size ? anchorLog.transactionOf(anchor) : undefined;
      },
      ...(anchorer && { anchoring: () => anchorer.state }),
      ...(witnesses && { witnesses: () => witnesses.states }),
    },
    start: () => {
      staticLog?.want();
      anchorer?.start();
      checkpointClock.want();
    },
    stop: async () => {
      stopListening();
      await checkpointClock.stop();
      await staticLog?.stop();
      await witnesses?.stop();
      if (anchorer) await Promise.race([anchorer.stop(), later(ANCHOR_GRACE_MS)]);
      ending.abort();
    },
  };
}

/** A sandbox writes nothing, so it anchors nothing. It would open its ledger on the chain, and pay for that. */
function withoutSandboxAnchors(config: SettlementConfig): SettlementConfig {
  if (config.mode !== "sandbox") return config;
  const { anchoring: _, ...rest } = config;
  return rest;
}

/**
 * Writes down that this machine has signed nothing of a ledger, if the ledger is empty here and nothing was written
 * down yet. A stand-by machine needs this before it copies the ledger of another machine.
 */
export async function beginSigned({
  config,
  folder,
  ledger: { tree },
}: Pick<OpenSigningParameters, "config" | "folder" | "ledger">): Promise<void> {
  await SignedHistory.begin({ folder, tree });
  const words = wordsFolder(config);
  if (words === undefined) return;
  await makeFolder(words);
  await SignedHistory.begin({ folder: words, of: "words", tree });
}

function wordsFolder({ anchoring, ledger }: SettlementConfig): string | undefined {
  return anchoring?.wordsDir && path.resolve(anchoring.wordsDir, ledger);
}

/** Asks the chain before anything is served. If the chain does not answer, writes wait for it. */
async function firstLook(anchorer: Anchorer, log: Log): Promise<void> {
  const look = anchorer.look().catch((error) => {
    log("The ledger could not be compared with the chain yet.", { error });
  });
  await Promise.race([look, later(FIRST_LOOK_MS)]);
}

/**
 * Compares the static log's folder with the ledger, and makes the clock that writes the log there as files. If the
 * folder has more entries than the ledger, or other entries, this copy of the ledger is not the newest. Then the gate
 * closes.
 */
async function openStaticLog(
  { config, ledger, gate, log }: OpenSigningParameters,
  checkpoints: Checkpoints,
): Promise<CheckpointClock | undefined> {
  if (config.staticLogDir === undefined) return undefined;
  const folder = path.resolve(config.staticLogDir, config.ledger);
  const staticLog = new StaticLog({ folder, origin: config.origin, ledger });
  await staticLog.check().catch((error) => {
    if (!(error instanceof TallystickError)) throw error;
    gate.close("copy", error);
  });
  return new CheckpointClock({
    make: async () => {
      if (gate.maySign) await staticLog.write(checkpoints.latest());
    },
    everyMs: STATIC_LOG_MS,
    complaint: "The static log could not be written; trying again.",
    log,
  });
}

/**
 * Asks the witnesses before the service writes anything. If they have seen more entries than this copy of the ledger
 * has, the copy is old, and nothing may be added to it.
 */
async function firstAnswers(witnesses: Witnesses, checkpoints: Checkpoints, gate: LedgerGate): Promise<void> {
  if (!gate.maySign) return;
  witnesses.offer(checkpoints.latest());
  await Promise.race([witnesses.firstAnswers(), later(FIRST_LOOK_MS)]);
}

function createWitnesses(
  { config, ledger, gate, log, now }: OpenSigningParameters,
  checkpoints: Checkpoints,
): Witnesses | undefined {
  if (config.witnessing === undefined) return undefined;
  return new Witnesses({
    config: config.witnessing,
    tree: ledger.tree,
    gate,
    log,
    now,
    onCosigned: (size, signatures) => checkpoints.cosign(size, signatures),
    onWitnessed: (size) => checkpoints.witness(size),
  });
}

/**
 * The record of anchors that were signed for another account to send; undefined when the writer sends its
 * anchors itself.
 */
async function openWords({
  config,
  ledger,
  gate,
}: OpenSigningParameters): Promise<SignedHistory | undefined> {
  const folder = wordsFolder(config);
  if (folder === undefined) return undefined;
  await makeFolder(folder);
  return SignedHistory.open({ folder, of: "words", tree: ledger.tree, gate });
}

function headWriter({ anchoring, ledger }: SettlementConfig, signer: WriterSigner | undefined) {
  if (!anchoring || !signer || ledger === "local") return undefined;
  const { chainId, contract } = anchoring;
  return { chainId, contract, ledgerId: ledger, signer };
}

function later(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
