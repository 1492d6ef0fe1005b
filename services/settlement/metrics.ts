import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { type ObserveRequest, requestHistogram } from "tallystick-runtime/http/measureRoutes";
import type { AnchoringState } from "./anchoring/anchorer.ts";
import type { HeldProposals } from "./engine/heldProposals.ts";
import type { DiskLedger } from "./ledger/diskLedger.ts";
import type { LedgerGate } from "./ledger/ledgerGate.ts";
import type { VerificationState } from "./verifying/ledgerVerifier.ts";
import type { WitnessState } from "./witnessing/witnesses.ts";

/** The counters of the service, and their text for Prometheus. */
export type Metrics = {
  /** One proposal or record: its type and its result (`SETTLED`, `KNOWN`, `REJECTED`, … or a problem's code). */
  countOutcome: (type: string, outcome: string) => void;
  /** A write that the disk refused. */
  countRefusedWrite: () => void;
  /** An fsync of the ledger, and how long it took, in seconds. */
  observeSync: (seconds: number) => void;
  observeRequest: ObserveRequest;
  /** The text of `GET /metrics`. */
  text: () => Promise<string>;
  contentType: string;
};

/** Metrics of one service. Nothing is global, so two services in one process do not share any. */
export function createMetrics(sources: {
  ledger: DiskLedger;
  held: HeldProposals;
  gate: LedgerGate;
  verification: () => VerificationState;
  /** The time, in unix seconds. */
  now: () => number;
  anchoring?: (() => AnchoringState) | undefined;
  witnesses?: (() => WitnessState[]) | undefined;
}): Metrics {
  const { ledger, held, gate, verification, now, anchoring, witnesses } = sources;
  const startedAt = now();
  const registry = new Registry();
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name: `tallystick_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  const outcomes = new Counter({
    name: "tallystick_settlements_total",
    help: "Proposals and records by type and outcome.",
    labelNames: ["type", "outcome"],
    registers: [registry],
  });
  const refusedWrites = new Counter({
    name: "tallystick_refused_writes_total",
    help: "Writes that the disk refused and that were undone.",
    registers: [registry],
  });
  const syncs = new Histogram({
    name: "tallystick_fsync_seconds",
    help: "Time that the disk takes to keep a write of the ledger; a write may have many entries.",
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  gauge("ledger_entries", "Entries on disk.", () => ledger.size);
  gauge("held_proposals", "Proposals that wait for a review.", () => held.waiting);
  gauge("writes_refused", "1 while the service takes no writes; /health says why.", () =>
    Number(gate.refusal !== undefined),
  );
  gauge("unread_entries", "Entries that were not read since the start; writes wait for them.", () => {
    return verification().unread;
  });
  gauge("index_compared_entries", "Entries that the index was last compared with.", () => {
    return verification().compared?.entries ?? 0;
  });
  gauge("index_compared_age_seconds", "Time since the index was last compared, or since the start.", () => {
    return now() - (verification().compared?.at ?? startedAt);
  });
  gauge("ledger_changed", "1 when a line or the index is not what was written; /health says which.", () =>
    Number(verification().found !== null),
  );
  gauge("resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  if (anchoring) {
    gauge(
      "anchored_entries",
      "Entries that the contract held when it was last read.",
      () => anchoring().size,
    );
    gauge("anchor_age_seconds", "Time since the contract held all that was on disk.", () => anchoring().age);
    gauge("anchor_stale", "1 when the anchor is older than twice its interval.", () =>
      Number(anchoring().stale),
    );
    gauge("anchor_failures", "Rounds of anchoring that failed, since the start.", () => anchoring().failures);
  }
  if (witnesses) {
    const byWitness = (name: string, help: string, read: (state: WitnessState) => number): void => {
      new Gauge({
        name: `tallystick_${name}`,
        help,
        labelNames: ["witness"],
        registers: [registry],
        collect() {
          for (const state of witnesses()) this.set({ witness: state.name }, read(state));
        },
      });
    };
    byWitness("cosigned_entries", "Entries that a witness cosigned last.", ({ size }) => size);
    byWitness(
      "witness_failures",
      "Times that a witness did not cosign, since the start.",
      ({ failures }) => failures,
    );
  }
  return {
    countOutcome: (type, outcome) => outcomes.inc({ type, outcome }),
    countRefusedWrite: () => refusedWrites.inc(),
    observeSync: (seconds) => syncs.observe(seconds),
    observeRequest: requestHistogram(registry),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
