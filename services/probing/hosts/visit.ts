import type { Metrics } from "../metrics.ts";
import { type Answer, ask, NoAnswer, type Question } from "../net/ask.ts";
import type { LookedUp } from "../net/lookUp.ts";
import type { Policy } from "../net/policy.ts";
import type { Uplink } from "../net/uplink.ts";
import type { Observation } from "../observations/observation.ts";
import type { DrawnMoments } from "../schedule/drawnMoments.ts";
import type { Pacer } from "../schedule/pacer.ts";
import type { Asker } from "../terms/termsRequest.ts";
import type { HostMemory } from "./hostMemory.ts";
import type { Host } from "./hostTable.ts";

/** The parts of the prober that a visit uses. */
export type VisitParameters = {
  policy: Policy;
  resolve: (host: string) => Promise<string[]>;
  pacer: Pacer;
  uplink: Uplink;
  memory: HostMemory;
  moments: DrawnMoments;
  asker: Asker;
  metrics: Metrics;
  /** Milliseconds that never go back. */
  clock: () => number;
  /** Unix milliseconds. */
  now: () => number;
  /** Stores an observation. @throws when the disk refuses it */
  record: (observation: Observation) => void;
  signal: AbortSignal;
  /** Certificates that are trusted in addition to those of the system. */
  ca?: string | undefined;
  /** Sends a request; replaced in tests without a network. */
  ask?: ((question: Question) => Promise<Answer>) | undefined;
};

/**
 * The outcome of a request. `skipped`: it was not sent, because its slot was over, the uplink was lost, or too many
 * requests waited.
 */
export type Reply =
  | { answer: Answer; begun: number }
  | { failed: string; begun: number; ended: number }
  | "skipped";

/** An observation without the fields that a visit adds itself. */
type Seen = Observation extends infer One
  ? One extends Observation
    ? Omit<One, "slot" | "at" | "host">
    : never
  : never;

/**
 * The visit to one host in one slot. Its requests go one after the other to IP addresses that were checked
 * before.
 */
export class Visit {
  readonly host: Host;
  readonly slot: number;
  readonly #it: VisitParameters;
  readonly #found: LookedUp;
  readonly #isWanted: () => boolean;
  #isWritten = false;

  constructor(
    parameters: VisitParameters,
    { host, slot, found, isWanted }: { host: Host; slot: number; found: LookedUp; isWanted: () => boolean },
  ) {
    this.#it = parameters;
    this.host = host;
    this.slot = slot;
    this.#found = found;
    this.#isWanted = isWanted;
  }

  record(seen: Seen): void {
    const about = { slot: this.slot, at: Math.round(this.#it.now()), host: this.host.key };
    this.#it.record({ ...about, ...seen } as Observation);
  }

  /**
   * Sends a request when its turn comes. If nobody answers at an IP address, the next address of the same
   * name is tried in the remaining time.
   */
  async ask(question: Omit<Question, "address" | "signal" | "ca">): Promise<Reply> {
    const { clock } = this.#it;
    if ("refused" in this.#found) {
      // The name has no IP address. Nothing is sent, but the host counts as asked in this slot.
      this.#write();
      return { failed: this.#found.refused, begun: clock(), ended: clock() };
    }
    let left = question.timeoutMs;
    let last: Reply = "skipped";
    for (const address of this.#found.addresses) {
      const reply = await this.#askAt(address, { ...question, timeoutMs: left });
      if (reply === "skipped") return last;
      if ("answer" in reply) {
        this.#it.uplink.noteAnswer(reply.begun, clock());
        return reply;
      }
      last = reply;
      left -= reply.ended - reply.begun;
      if (reply.failed !== "unreachable" || left < 1) break;
    }
    return last;
  }

  async #askAt(address: string, question: Omit<Question, "address" | "signal" | "ca">): Promise<Reply> {
    const { pacer, memory, clock, metrics, signal, ca } = this.#it;
    const turn = { key: address, isUrgent: memory.wasUp(this.host.key), isWanted: this.#isWanted };
    const reply = await pacer.run(turn, async (): Promise<Reply> => {
      this.#write();
      metrics.countRequest();
      const begun = clock();
      try {
        const answer = await (this.#it.ask ?? ask)({ ...question, address, signal, ca });
        metrics.observeAnswer((clock() - begun) / 1_000);
        return { answer, begun };
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        return { failed: error.reason, begun, ended: clock() };
      }
    });
    return reply ?? "skipped";
  }

  /** Waits until it is known whether a failure is the prober's own. Any answer, even a bad one, comes from the host. */
  async isOurs(reply: Exclude<Reply, "skipped">): Promise<boolean> {
    return "failed" in reply && (await this.#it.uplink.isOurs(reply.begun, reply.ended));
  }

  /** Stores that the host is asked in this slot, before the request. After a crash it is not asked twice. */
  #write(): void {
    if (this.#isWritten) return;
    this.record({ what: "ask" });
    this.#isWritten = true;
  }
}
