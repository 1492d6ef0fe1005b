import { TallystickError } from "tallystick-protocol/errors";
import type { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import type { NoteSignature } from "tallystick-protocol/note/signedNote";
import { isQuorum } from "tallystick-protocol/note/trustPolicy";
import type { Log } from "tallystick-runtime/stderrLog";
import type { Fetch } from "tallystick-sdk/requestService";
import type { LedgerGate } from "../ledger/ledgerGate.ts";
import type { StoredCheckpoint } from "../proofs/checkpoints.ts";
import { askWitness } from "./askWitness.ts";
import type { LedgerWitness, WitnessingConfig } from "./witnessingConfig.ts";

/** The state of one witness: the size and the time of its last cosignature, and the last error since then. */
export type WitnessState = {
  name: string;
  size: number;
  time: number | null;
  error: string | null;
  failures: number;
};

export type WitnessesParameters = {
  config: WitnessingConfig;
  /** The verified tree over the entries on disk. */
  tree: MerkleTree;
  gate: LedgerGate;
  log: Log;
  /** Called with every good cosignature over the checkpoint of a size. */
  onCosigned: (size: number, signatures: NoteSignature[]) => void;
  /** Called with a size that the quorum has cosigned. Sizes only grow. */
  onWitnessed: (size: number) => void;
  fetch?: Fetch;
  /** Unix seconds. */
  now: () => number;
  /** A clock that only goes forward, in milliseconds. */
  elapsedMs?: () => number;
  /** For tests. */
  times?: Partial<typeof TIMES>;
};

/** All times are in milliseconds. */
const TIMES = {
  /** How long one witness may take to answer. */
  answerMs: 10_000,
  /** How long a checkpoint waits for slow witnesses before the next one is offered. */
  roundMs: 5_000,
  /** How long an anchor waits for a quorum. */
  anchorMs: 60_000,
  /**
   * The wait after the first failure of a witness, and the longest wait. The wait doubles with each failure in a row.
   */
  firstBackoffMs: 1_000,
  maxBackoffMs: 60_000,
};

type Asked = {
  readonly witness: LedgerWitness;
  /** The size that it cosigned last, if known. The proof begins there. */
  oldSize: number;
  state: WitnessState;
  /** The number of failures in a row, and the time before which the witness is not asked again. */
  failed: number;
  restUntil: number;
  busy: boolean;
};

/**
 * The checkpoint that is offered now, the witnesses that have cosigned it, and the witnesses that have
 * answered.
 */
type Round = { checkpoint: StoredCheckpoint; by: Set<string>; answered: Set<string>; since: number };

/**
 * Sends the ledger's checkpoints to its witnesses and collects their cosignatures (C2SP tlog-witness). All
 * witnesses get the same checkpoint, so that their signatures are under one checkpoint. A witness may have
 * more of this ledger than we do, or other entries. Then it has seen another copy, and all writing stops until
 * the service is started again.
 */
export class Witnesses {
  readonly #parameters: WitnessesParameters;
  readonly #times: typeof TIMES;
  readonly #elapsedMs: () => number;
  readonly #asked: Asked[];
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  readonly #running = new Set<Promise<void>>();
  #round: Round | undefined;
  /** The newest checkpoint that was not offered yet. */
  #next: StoredCheckpoint | undefined;
  #timer: NodeJS.Timeout | undefined;
  #witnessedSize = 0;
  /** The time since which a checkpoint waits for a quorum; undefined when the newest one has a quorum. */
  #withoutSince: number | undefined;
  #ahead: TallystickError | undefined;

  constructor(parameters: WitnessesParameters) {
    this.#parameters = parameters;
    this.#times = { ...TIMES, ...parameters.times };
    this.#elapsedMs = parameters.elapsedMs ?? (() => performance.now());
    this.#asked = parameters.config.witnesses.map((witness) => ({
      witness,
      oldSize: 0,
      state: { name: witness.name, size: 0, time: null, error: null, failures: 0 },
      failed: 0,
      restUntil: Number.NEGATIVE_INFINITY,
      busy: false,
    }));
  }

  get states(): WitnessState[] {
    return this.#asked.map(({ state }) => ({ ...state }));
  }

  /** The largest size that the quorum has cosigned since the start; 0 for none. */
  get witnessedSize(): number {
    return this.#witnessedSize;
  }

  /** Takes a new checkpoint to be cosigned. If several wait, the newest is offered. */
  offer(checkpoint: StoredCheckpoint): void {
    const known = this.#next ?? this.#round?.checkpoint;
    if (known !== undefined && known.size >= checkpoint.size) return;
    this.#next = checkpoint;
    this.#withoutSince ??= this.#elapsedMs();
    this.#go();
  }

  /**
   * Resolves once every witness has answered or failed once. Then it is known what each has of this ledger.
   */
  async firstAnswers(): Promise<void> {
    await Promise.all([...this.#running]);
  }

  /**
   * The size to anchor: the largest size that the quorum has cosigned. This waits some time until the quorum has
   * cosigned `size`. If by then the quorum has cosigned nothing above `oldSize`, the result is `size`, unless a quorum
   * is required.
   *
   * @param oldSize the anchored size
   * @param size the number of entries on disk
   * @throws TallystickError `witness_ahead`; `witness_quorum_missing` when a quorum is required and there is
   * none
   */
  async sizeToAnchor(oldSize: number, size: number): Promise<number> {
    const since = this.#withoutSince ?? this.#elapsedMs();
    const end = since + this.#times.anchorMs;
    while (this.#witnessedSize < size) {
      if (this.#ahead) throw this.#ahead;
      const left = end - this.#elapsedMs();
      if (left <= 0 || this.#stop.signal.aborted) break;
      await this.#change(left);
    }
    if (this.#ahead) throw this.#ahead;
    if (this.#witnessedSize > oldSize) return Math.min(this.#witnessedSize, this.#parameters.tree.size);
    const { config, log } = this.#parameters;
    const missing = this.#missing();
    if (config.required || this.#stop.signal.aborted) throw missing;
    log("Anchoring without the quorum of witnesses.", { size, reason: missing.message });
    return size;
  }

  /** Stops asking. Resolves when no request is running. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#tell();
    await Promise.all([...this.#running]);
  }

  /** Begins the next round when this one is over. Asks the free witnesses that have not answered. */
  #go(): void {
    if (this.#stop.signal.aborted || this.#ahead) return;
    clearTimeout(this.#timer);
    const now = this.#elapsedMs();
    if (this.#next !== undefined && this.#isOver(now)) {
      this.#round = { checkpoint: this.#next, by: new Set(), answered: new Set(), since: now };
      this.#next = undefined;
    }
    const round = this.#round;
    if (round === undefined) return;
    let wake = this.#next === undefined ? Number.POSITIVE_INFINITY : round.since + this.#times.roundMs;
    for (const one of this.#asked) {
      if (one.busy || round.answered.has(one.witness.name)) continue;
      if (one.restUntil > now) wake = Math.min(wake, one.restUntil);
      else this.#ask(one);
    }
    if (wake !== Number.POSITIVE_INFINITY)
      this.#timer = setTimeout(() => this.#go(), Math.max(1, wake - now)).unref();
  }

  /** A round is over when it has its quorum, when all witnesses have answered, or when its time is over. */
  #isOver(now: number): boolean {
    const round = this.#round;
    if (round === undefined || isQuorum(this.#parameters.config.policy, round.by)) return true;
    if (now - round.since >= this.#times.roundMs) return true;
    return this.#asked.every(
      ({ busy, restUntil, witness }) => !busy && (restUntil > now || round.answered.has(witness.name)),
    );
  }

  #ask(one: Asked): void {
    one.busy = true;
    const work = this.#cosign(one).finally(() => {
      one.busy = false;
      this.#running.delete(work);
      this.#go();
    });
    this.#running.add(work);
  }

  /**
   * Asks one witness about the round's checkpoint. If the witness names another start for the proof, asks
   * once more.
   */
  async #cosign(one: Asked): Promise<void> {
    const { checkpoint, answered } = this.#round as Round;
    try {
      for (const isLast of [false, true]) {
        const answer = await this.#answerOf(one, checkpoint);
        if (answer.kind !== "knows" || answer.size > checkpoint.size) answered.add(one.witness.name);
        if (answer.kind === "cosigned") {
          this.#take(one, checkpoint, answer);
          return;
        }
        if (answer.kind === "contradicts")
          return this.#halt(one, `does not find that ${checkpoint.size} entries continue what it has seen`);
        if (answer.size > checkpoint.size) {
          // This process, or another one with the same ledger, may have asked the witness about a later checkpoint
          // meanwhile.
          if (answer.size > this.#parameters.tree.size)
            return this.#halt(
              one,
              `has cosigned ${answer.size} entries, but there are only ${this.#parameters.tree.size} here`,
            );
          one.oldSize = answer.size;
          return;
        }
        if (isLast) throw new Error(`it names size ${answer.size}, and then another size`);
        one.oldSize = answer.size;
      }
    } catch (error) {
      this.#fail(one, error as Error);
    }
  }

  #answerOf({ witness, oldSize }: Asked, checkpoint: StoredCheckpoint) {
    const { tree, fetch = globalThis.fetch, now } = this.#parameters;
    const from = Math.min(oldSize, checkpoint.size);
    const proof = from === 0 ? [] : tree.consistencyProof(from, checkpoint.size);
    return askWitness({
      witness,
      request: { oldSize: from, proof, checkpoint: checkpoint.note },
      size: checkpoint.size,
      fetch,
      signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(this.#times.answerMs)]),
      now: now(),
    });
  }

  #take(
    one: Asked,
    { size }: StoredCheckpoint,
    { signatures, time }: { signatures: NoteSignature[]; time: number },
  ): void {
    const { onCosigned, onWitnessed, log, config } = this.#parameters;
    if (one.failed > 0) log("A witness cosigns again.", { witness: one.witness.name });
    one.failed = 0;
    one.oldSize = size;
    one.state = { ...one.state, size, time, error: null };
    onCosigned(size, signatures);
    const round = this.#round;
    if (round?.checkpoint.size !== size) return;
    round.by.add(one.witness.name);
    if (!isQuorum(config.policy, round.by) || size <= this.#witnessedSize) return;
    this.#witnessedSize = size;
    this.#withoutSince = this.#next === undefined ? undefined : this.#elapsedMs();
    onWitnessed(size);
    this.#tell();
  }

  #fail(one: Asked, error: Error): void {
    if (this.#stop.signal.aborted) return;
    const { log } = this.#parameters;
    const { firstBackoffMs, maxBackoffMs } = this.#times;
    if (one.failed === 0)
      log("A witness does not cosign; it is asked again.", {
        witness: one.witness.name,
        reason: error.message,
        ...(error.cause !== undefined && { cause: error.cause }),
      });
    one.restUntil =
      this.#elapsedMs() + Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(one.failed, 20));
    one.failed++;
    one.state = { ...one.state, error: error.message, failures: one.state.failures + 1 };
  }

  /** Stops all writing, because a witness has seen another copy of this ledger. */
  #halt({ witness, state }: Asked, why: string): void {
    state.error = why;
    this.#ahead = new TallystickError({
      code: "witness_ahead",
      message: `The witness ${witness.name} ${why}.`,
      hint:
        "Stop writing: another copy of this ledger is newer, or has another history. Find it and compare. If the witness is" +
        " wrong, take it out of WITNESS_POLICY. Then start the service again.",
    });
    this.#parameters.gate.close("witness", this.#ahead);
    this.#tell();
  }

  #missing(): TallystickError {
    const reasons = this.#asked.filter(({ state }) => state.error !== null).map(({ state }) => state.error);
    return new TallystickError({
      code: "witness_quorum_missing",
      message: `The quorum of witnesses has not cosigned in time. ${reasons.join(" ")}`.trim(),
      hint: "Check the witnesses (GET /health names them), or unset WITNESS_REQUIRED.",
    });
  }

  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.#waiting.add(done);
    });
  }

  #tell(): void {
    for (const done of [...this.#waiting]) done();
  }
}
