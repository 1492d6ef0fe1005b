import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { type AnchorDeployment, anchorTypedData } from "tallystick-protocol/ledger/anchor";
import type { Log } from "tallystick-runtime/stderrLog";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient } from "viem";
import type { AnchoringConfig, SettlementConfig } from "../config.ts";
import type { LedgerClock } from "../engine/ledgerClock.ts";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import type { SignedHistory } from "../ledger/signedHistory.ts";
import type { Checkpoints } from "../proofs/checkpoints.ts";
import { accountOfKey } from "../signingKeys/accountOfKey.ts";
import type { Witnesses } from "../witnessing/witnesses.ts";
import { anchorContract } from "./anchorContract.ts";
import { Anchorer } from "./anchorer.ts";
import type { AnchorLog } from "./anchorLog.ts";
import { ChainWatch } from "./chainWatch.ts";
import type { LedgerOnChain } from "./readLedgerOnChain.ts";
import { contractSigner, keySigner, type WriterSigner } from "./writerSigner.ts";

/** Signs for the writer with the key in `ANCHOR_PRIVATE_KEY`, or by the command in `ANCHOR_SIGNER`. */
export function writerSigner(
  { key, writer, rpcUrl, chainId, contract }: AnchoringConfig,
  signal: AbortSignal,
): WriterSigner {
  const account = accountOfKey(key, signal);
  if (account.address.toLowerCase() === writer) return keySigner(account);
  const chain = createPublicClient({ transport: rpcTransport(rpcUrl), cacheTime: 0 });
  return contractSigner({ account, writer, chainId, chain, witness: contract });
}

/** Anchors a ledger by its settings. */
export function createAnchorer(
  anchoring: AnchoringConfig,
  sources: {
    config: Pick<SettlementConfig, "ledger" | "origin">;
    ledger: Pick<DiskLedger, "tree">;
    gate: LedgerGate;
    clock: LedgerClock;
    log: Log;
    history: SignedHistory;
    words: SignedHistory | undefined;
    signer: WriterSigner;
    signal: AbortSignal;
    checkpoints: Checkpoints;
    anchorLog: AnchorLog;
    witnesses: Witnesses | undefined;
  },
): Anchorer {
  const { config, ledger, gate, clock, log, history, words, signer, signal } = sources;
  const { checkpoints, anchorLog, witnesses } = sources;
  const { intervalSeconds, maxEntries, writer, firstWriter, chainId, confirmations } = anchoring;
  const intervalMs = intervalSeconds * 1_000;
  const { tree } = ledger;
  const deployment: AnchorDeployment = { chainId, contract: anchoring.contract };
  const id = config.ledger as Hex;
  return new Anchorer({
    contract: anchorContract({
      transport: rpcTransport(anchoring.rpcUrl),
      account: accountOfKey(anchoring.relayer, signal),
      writer,
      firstWriter,
      sign: async ({ seq, size, root }) => {
        const terms = { ledgerId: id, seq, newSize: size, newRoot: root };
        return (await signer.sign(anchorTypedData(terms, deployment))).signature;
      },
      ...deployment,
      ledgerId: id,
      origin: config.origin,
      guardian: anchoring.guardian,
      confirmations,
      pollingIntervalMs: Math.min(2_000, Math.max(100, intervalMs / 4)),
    }),
    tree,
    // If the writer sends its anchors itself, it makes no signed statement before the contract has the
    // anchor. A signature for a relayer is a statement at once, even if it is never mined.
    watch: new ChainWatch({ tree, writer, gate, forgives: words === undefined }),
    history: {
      cover: async (size) => {
        await history.cover(size);
        await words?.cover(size);
      },
    },
    ...(witnesses && {
      sizeToAnchor: (oldSize: number, size: number) => witnesses.sizeToAnchor(oldSize, size),
    }),
    intervalMs,
    maxEntries,
    log,
    isWaitedFor: () => gate.refusal !== undefined || gate.silence !== undefined,
    onSilence: (reason) => gate.noteSilence(chainSilent(reason)),
    onAnswer: ({ block }) => {
      gate.noteSilence(undefined);
      clock.seen(block);
    },
    onCompared: ({ confirmed }) => signHead(confirmed),
    onAnchored: (anchor) => anchorLog.add(anchor),
  });

  /** Lets the writer sign the confirmed head. An error is only logged, so it does not stop anchoring. */
  async function signHead(confirmed: LedgerOnChain["confirmed"]): Promise<void> {
    if (confirmed === undefined || confirmed.size > BigInt(tree.size)) return;
    const held = { size: Number(confirmed.size), root: confirmed.root };
    await checkpoints.makeHead(held).catch((error) => {
      log("The writer's signature for an anchor could not be made.", { size: held.size, error });
    });
  }
}

function chainSilent(reason: string): TallystickError {
  return new TallystickError({
    code: "chain_silent",
    message: `The chain does not answer this machine, so nothing is anchored: ${reason}`,
    hint: "Check RPC_URL. Writes are accepted meanwhile, and are anchored when the chain answers.",
  });
}
