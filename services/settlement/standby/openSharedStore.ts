import type { Hono } from "hono";
import { fromHex, type Hex } from "tallystick-protocol/hex";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { Log } from "tallystick-runtime/stderrLog";
import type { ShareHeld } from "../engine/heldProposals.ts";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import { Committer } from "./committer.ts";
import { postgresStore } from "./postgresStore.ts";
import type { SharedStore } from "./sharedStore.ts";
import { standbyApp } from "./standbyApp.ts";
import { type StandbyState, waitForTurn } from "./waitForTurn.ts";

/** Where the machines of a ledger commit what they settle. */
export type SharedStoreConfig = {
  /** A `postgres://` address. */
  url: string;
  /** The key of the rows' seals: 32 bytes. */
  key: Hex;
  /** How long the lease of a silent machine lasts. */
  leaseSeconds: number;
  /** How long a machine that cannot write keeps the lease while another machine could write. Default 30. */
  handOverSeconds?: number;
};

/** How long a machine that cannot write keeps the lease while another machine could write, in seconds. */
const HAND_OVER_SECONDS = 30;

/** How a service waits until it may write. */
export type Standby = {
  /** Called once if the service has to wait, with the app that answers meanwhile. */
  onStandby?: (app: Hono, ledger: DiskLedger) => void;
  /** Ends the waiting. */
  signal?: AbortSignal;
};

/** A ledger that this process may write, and that is committed in a shared store. */
export type SharedLedger = {
  store: SharedStore;
  /** Stores held proposals. */
  hold: ShareHeld;
  /** Ends all waiting for the store. Close the ledger after this. */
  stop: () => Promise<void>;
  /** Gives the lease up, so that another machine can take it. */
  close: () => Promise<void>;
};

export type OpenSharedStoreParameters = Standby & {
  config: SharedStoreConfig;
  ledgerName: { ledger: LedgerName; origin: string };
  ledger: DiskLedger;
  gate: LedgerGate;
  /** Whether the chain answers this machine; absent without a chain. */
  chainAnswers?: (() => Promise<boolean>) | undefined;
  log: Log;
  onFailure: (error: Error) => void;
};

/** Waits until this process may write the ledger. From then on everything is committed before it is written. */
export async function openSharedStore(parameters: OpenSharedStoreParameters): Promise<SharedLedger> {
  const { config, ledgerName, ledger, gate, log, onFailure, onStandby } = parameters;
  const { chainAnswers, signal = new AbortController().signal } = parameters;
  const leaseMs = config.leaseSeconds * 1_000;
  const key = fromHex(config.key, 32);
  const store = postgresStore({ url: config.url, key, ledger: ledgerName.ledger, leaseMs, log });
  let state: StandbyState | undefined;
  const onState = (next: StandbyState): void => {
    const isFirst = state === undefined;
    state = next;
    if (isFirst) onStandby?.(standbyApp({ ledger, ledgerName, state: () => state ?? next, log }), ledger);
  };
  const isAble = async (): Promise<boolean> =>
    gate.refusal === undefined && (chainAnswers === undefined || (await chainAnswers()));
  try {
    await waitForTurn({ ledger, store, leaseMs, log, onState, isAble, signal });
  } catch (error) {
    await store.close();
    throw error;
  }
  const committer = new Committer({
    ...{ store, leaseMs, gate, onLost: onFailure },
    handOverMs: (config.handOverSeconds ?? HAND_OVER_SECONDS) * 1_000,
  });
  ledger.commitBy(committer.commit);
  return {
    store,
    hold: committer.hold,
    stop: () => committer.stop(),
    close: async () => {
      await store
        .release()
        .catch((error) => log("The ledger's lease was not given back; it ends.", { error }));
      await store.close();
    },
  };
}
