import { toHex } from "tallystick-protocol/hex";
import { signRecord } from "tallystick-protocol/records/record";
import type { Log } from "tallystick-runtime/stderrLog";
import type { LocalAccount } from "viem";
import type { SettlementEngine } from "./engine/settlementEngine.ts";
import type { DiskLedger } from "./ledger/diskLedger.ts";

export type PulseParameters = {
  engine: SettlementEngine;
  ledger: DiskLedger;
  /** Signs the pulses. */
  operator: LocalAccount;
  intervalMs: number;
  /** The time, in seconds since 1970. */
  now: () => number;
  log: Log;
  /** Called when the disk no longer has what was written. The process should end. */
  onFailure: (error: Error) => void;
};

/**
 * The heartbeat of a ledger (swarm.at §12). In every interval the ledger is read back from disk, and a
 * `pulse` that says so is settled. Each beat reads everything since the last one, and a part of the older
 * entries. So the whole ledger is read again and again.
 */
export class Pulse {
  readonly #parameters: PulseParameters;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<unknown> = Promise.resolve();

  constructor(parameters: PulseParameters) {
    this.#parameters = parameters;
  }

  /** Starts the beats. The first one comes after one interval. */
  start(): void {
    const { intervalMs, log, onFailure } = this.#parameters;
    this.#timer = setInterval(() => {
      this.#beating = this.beat().catch((error) => {
        log("The pulse failed.", { error });
        if (error?.code === "ledger_line") onFailure(error);
      });
    }, intervalMs);
    this.#timer.unref();
  }

  /** Ends the beats. Resolves when no beat is running. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
  }

  /**
   * One beat: verifies, then settles a pulse. Does nothing while the ledger has unread entries.
   *
   * @throws LedgerLineError naming the line that differs from the settled one; then nothing is settled
   */
  async beat(): Promise<void> {
    const { ledger, engine, operator, now } = this.#parameters;
    const size = await ledger.verifyGrowth();
    // A pulse says that everything was read back. After a start that read only the end of the file, the pulse waits
    // until the other entries are read.
    if (size === undefined) return;
    const body = { size, root: toHex(ledger.tree.root(size)), verified_at: Math.floor(now()) };
    const { ledgerName } = engine;
    await engine.settleRecord(
      await signRecord({ type: "pulse", ledger: ledgerName, body, account: operator }),
    );
  }
}
