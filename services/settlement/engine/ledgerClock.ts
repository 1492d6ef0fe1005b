import { TallystickError } from "tallystick-protocol/errors";
import type { LedgerGate } from "../ledger/ledgerGate.ts";

/** How far the last entry may be ahead of the clock, in seconds. */
export const MAX_AHEAD_SECONDS = 300;

export type LedgerClockParameters = {
  /** The time, in seconds since 1970, with fractions. */
  now: () => number;
  gate: LedgerGate;
  /** How far the clock may be from a block's time, in seconds; 0: no comparison with blocks. */
  limitSeconds: number;
  /** A clock that only goes forward, in seconds. */
  elapsed?: () => number;
};

/**
 * Gives entries their time, which never goes backwards. Closes the gate while the clock cannot be right. One
 * entry with a time years ahead would stay the newest of its ledger for years, and all time windows would
 * stop.
 */
export class LedgerClock {
  readonly #parameters: LedgerClockParameters;
  readonly #elapsed: () => number;
  /** The time of the last entry, even if it is still being written. */
  #last = Number.NEGATIVE_INFINITY;
  /** The latest block. */
  #block = -1n;
  /** Why the clock is not trusted until a block agrees with it. */
  #doubt: TallystickError | undefined;
  #looked: { now: number; elapsed: number } | undefined;

  constructor(parameters: LedgerClockParameters) {
    this.#parameters = parameters;
    this.#elapsed = parameters.elapsed ?? (() => performance.now() / 1_000);
    parameters.gate.onAsk(() => this.#check());
  }

  /** Takes the time of the ledger's last entry, in seconds. */
  entry(timestamp: number): void {
    this.#last = timestamp;
  }

  /**
   * The time for the next entry: now, or the time of the last entry if the clock was set back.
   *
   * @throws TallystickError `clock` (503), or another reason of the gate
   */
  next(): number {
    this.requireWrites();
    this.#last = this.latest();
    return this.#last;
  }

  /** The time that the next entry would get. */
  latest(): number {
    return Math.max(this.#parameters.now(), this.#last);
  }

  /** @throws TallystickError `clock` (503), or another reason of the gate */
  requireWrites(): void {
    this.#parameters.gate.requireWrites();
  }

  /** @throws TallystickError `clock` (503) while the clock cannot be right. Other reasons that stop writes do not count */
  requireRight(): void {
    this.#parameters.gate.requirePart("clock");
  }

  /**
   * Takes the latest block of the chain. A block that is known, or older than a known one, is ignored. Time in unix
   * seconds.
   */
  seen({ number, time }: { number: bigint; time: bigint }): void {
    const { limitSeconds, now } = this.#parameters;
    if (limitSeconds === 0 || number <= this.#block) return;
    this.#block = number;
    const off = now() - Number(time);
    this.#doubt =
      Math.abs(off) <= limitSeconds
        ? undefined
        : clockError(
            `The clock is ${seconds(off)} ${off > 0 ? "ahead of" : "behind"} block ${number} of the chain.`,
            "Set the machine's clock (NTP), or check whether the node of RPC_URL is behind its chain. Writes continue with the first block that agrees with the clock.",
          );
    this.#check();
  }

  #check(): void {
    const { gate, now } = this.#parameters;
    const at = now();
    this.#lookForJump(at);
    const ahead = this.#last - at;
    if (ahead > MAX_AHEAD_SECONDS) {
      const message = `The ledger's last entry is ${seconds(ahead)} ahead of the clock.`;
      const hint =
        "Set the machine's clock (NTP). If the entry's time is wrong, writes work again when that time has come.";
      gate.close("clock", clockError(message, hint));
    } else if (this.#doubt) gate.close("clock", this.#doubt);
    else gate.open("clock");
  }

  /** Notices that the clock was set since the last call. Then it is not trusted until the chain agrees with it. */
  #lookForJump(now: number): void {
    const before = this.#looked;
    const elapsed = this.#elapsed();
    this.#looked = { now, elapsed };
    const { limitSeconds } = this.#parameters;
    if (limitSeconds === 0 || before === undefined) return;
    const jump = now - before.now - (elapsed - before.elapsed);
    if (Math.abs(jump) <= limitSeconds) return;
    this.#doubt = clockError(
      `The clock was set ${seconds(jump)} ${jump > 0 ? "forward" : "back"}.`,
      "Writes continue with the first block of the chain that agrees with the clock.",
    );
  }
}

function clockError(message: string, hint: string): TallystickError {
  return new TallystickError({ code: "clock", message, hint });
}

function seconds(count: number): string {
  return `${Math.round(Math.abs(count))} s`;
}
