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
  /** Told when the disk no longer has what was written: the process should end. */
  onFailure: (error: Error) => void;
};

/**
 * The heartbeat of a ledger (swarm.at §12): every interval it reads itself back from disk and settles a `pulse` that
 * says so. Each beat reads everything written since the last one and a stretch of what is older, so that the whole is
 * read again and again.
 */
export class Pulse {
  readonly #parameters: PulseParameters;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<unknown> = Promise.resolve();

  constructor(parameters: PulseParameters) {
    this.#parameters = parameters;
  }

  /** Starts beating, first after one interval. */
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

  /** Ends it. Resolves when no beat is under way. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
  }

  /**
   * One beat: verifies, then settles a pulse.
   *
   * @throws LedgerLineError naming the line that is not what was settled; nothing is settled then
   */
  async beat(): Promise<void> {
    const { ledger, engine, operator, now } = this.#parameters;
    // It says that all was read back: not before it was, after a start that has read the end only.
    if (ledger.unread > 0) return;
    const size = await ledger.verifyGrowth();
    const body = { size, root: toHex(ledger.tree.root(size)), verified_at: Math.floor(now()) };
    const { ledgerName } = engine;
    await engine.settleRecord(
      await signRecord({ type: "pulse", ledger: ledgerName, body, account: operator }),
    );
  }
}
