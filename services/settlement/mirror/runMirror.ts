import path from "node:path";
import { getRequestListener } from "@hono/node-server";
import type { Hex } from "tallystick-protocol/hex";
import { limitsPerAddress } from "tallystick-runtime/http/limitsPerAddress";
import { listen } from "tallystick-runtime/http/listen";
import { logFaults } from "tallystick-runtime/http/logFaults";
import { closeOnError, type OnOpened } from "tallystick-runtime/processes/closeOnError";
import { repeatRounds } from "tallystick-runtime/repeatRounds";
import type { Log } from "tallystick-runtime/stderrLog";
import { openBucket } from "../objectStore/bucket.ts";
import { BucketCopy } from "../objectStore/bucketCopy.ts";
import { Mirror, type MirrorState } from "./mirror.ts";
import { createMirrorApp } from "./mirrorApp.ts";
import type { AnchorSource, MirrorConfig } from "./mirrorConfig.ts";

export type RunMirrorParameters = {
  config: MirrorConfig;
  source: string;
  recheck: boolean;
  /** Unix seconds. */
  now: () => number;
  log: Log;
  onProgress?: ((size: number, of: number) => void) | undefined;
};

export type RunningMirror = {
  url: string;
  folder: string;
  state: () => MirrorState;
  close: () => Promise<void>;
};

/**
 * Opens a mirror, and its copy in an object store. Serves nothing yet.
 *
 * @throws TallystickError of {@link Mirror.open}; `bucket_unsafe`, `bucket_unavailable`
 */
export async function openMirror({ config, source, recheck, now, log, onProgress }: RunMirrorParameters) {
  const { trust, anchor } = config;
  const folder = path.resolve(config.folder);
  // This comes before any fetch, because a store that overwrites cannot be used.
  const bucket = config.bucket && (await openBucket({ config: config.bucket }));
  const askAnchor = anchor && (await anchorOf(anchor));
  const mirror = await Mirror.open({ folder, source, trust, askAnchor, recheck, now, log, onProgress });
  const copy = bucket && new BucketCopy({ from: mirror.own, bucket, log });
  return {
    mirror,
    copy,
    /** Asks the source once, and copies what is new. Returns whether both worked. */
    round: async (signal?: AbortSignal): Promise<boolean> => {
      const agrees = await mirror.look(signal);
      const isCopied = (await copy?.round(signal)) ?? true;
      return agrees && isCopied;
    },
  };
}

/**
 * Runs a mirror until it is closed. It serves its entries and follows its source. Resolves when it listens.
 *
 * @throws as {@link openMirror}; TallystickError `cannot_listen`
 */
export async function runMirror(parameters: RunMirrorParameters): Promise<RunningMirror> {
  return await closeOnError((opened) => startMirror(parameters, opened));
}

async function startMirror(parameters: RunMirrorParameters, opened: OnOpened): Promise<RunningMirror> {
  const { config, log } = parameters;
  const { mirror, copy, round } = await openMirror(parameters);
  opened(() => mirror.close());
  const onFault = logFaults(log);
  const { ledgerId } = config;
  const app = createMirrorApp({ mirror, ledgerId, bucket: copy && (() => copy.state), onFault });
  const settings = "MIRROR_HOST and MIRROR_PORT";
  const server = await listen(getRequestListener(app.fetch), {
    ...config,
    settings,
    limits: limitsPerAddress(config),
    onFault,
  });
  const rounds = repeatRounds(
    async (signal) => {
      await round(signal);
    },
    { pauseMs: config.everySeconds * 1_000, closed: "the mirror is closed", log },
  );
  rounds.start();
  return {
    url: server.url,
    folder: mirror.folder,
    state: () => mirror.state,
    close: async () => {
      await rounds.close();
      await server.close();
      await mirror.close();
    },
  };
}

/** Makes the function that asks the contract. viem takes half of a mirror's memory, so it is loaded only here. */
async function anchorOf({ ledgerId, rpcUrl, chainId, contract }: AnchorSource) {
  const [{ createPublicClient }, { rpcTransport }, { readLedgerOnChain }] = await Promise.all([
    import("viem"),
    import("tallystick-sdk/net/rpcTransport"),
    import("../anchoring/readLedgerOnChain.ts"),
  ]);
  const client = createPublicClient({ transport: rpcTransport(rpcUrl), cacheTime: 0 });
  return async (): Promise<{ size: number; root: Hex } | undefined> => {
    const { ledger } = await readLedgerOnChain({ client, chainId, contract, ledgerId, confirmations: 0 });
    return ledger && { size: Number(ledger.head.size), root: ledger.head.root };
  };
}
