/**
 * How many answers go out at one time. One would be enough if every agent proposed again after its answer. The second is
 * for an agent that does not.
 */
const AT_ONCE = 2;

/** How long the queue waits for these agents to propose again, before the next answers go out, in milliseconds. */
const PATIENCE_MS = 10;

/** The most answers that are held back at one time. Above this, answers go out immediately. */
const MAX_WAITING = 10_000;

/** The most rejected tasks that are remembered. */
const MAX_REMEMBERED = 10_000;

type Waiting = { since: number; answer: () => void };

/**
 * Orders the answers to agents that proposed on an old head. If all agents got the answer at once, all would
 * propose again on the same new head, and all but one would be rejected. More agents would then mean fewer
 * entries. So only a few answers go out each time the head has moved, or nobody came back in a short time. The task
 * that has waited longest since its first rejection comes first. The queue changes only the time of an answer, not its
 * content.
 */
export class DriftQueue {
  readonly #waiting: Waiting[] = [];
  /** When each task was first rejected, as a running number. */
  readonly #since = new Map<string, number>();
  readonly #isMoving: () => boolean;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param isMoving whether an entry is being written. It will be the new head, so an agent that proposed on the present
   * head would be rejected again
   */
  constructor(isMoving: () => boolean = () => false) {
    this.#isMoving = isMoving;
  }

  /** Whether answers are being held back. */
  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when the answer for this task may go out. */
  wait(taskId: string): Promise<void> {
    const since = this.#remember(taskId);
    if (this.#waiting.length >= MAX_WAITING) return Promise.resolve();
    return new Promise((answer) => {
      let at = this.#waiting.length;
      while (at > 0 && (this.#waiting[at - 1] as Waiting).since > since) at--;
      this.#waiting.splice(at, 0, { since, answer });
      this.#timer ??= setTimeout(() => this.#goOn(), PATIENCE_MS);
    });
  }

  /** Call this when the head has moved. */
  moved(): void {
    this.#release();
  }

  /**
   * Call this when a task was settled. If the same task is rejected later, its waiting time starts at zero.
   */
  settled(taskId: string): void {
    this.#since.delete(taskId);
  }

  #remember(taskId: string): number {
    const known = this.#since.get(taskId);
    if (known !== undefined) return known;
    const since = this.#count++;
    this.#since.set(taskId, since);
    if (this.#since.size > MAX_REMEMBERED) this.#since.delete(this.#since.keys().next().value as string);
    return since;
  }

  #goOn(): void {
    if (this.#isMoving()) this.#timer = setTimeout(() => this.#goOn(), PATIENCE_MS);
    else this.#release();
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { answer } of this.#waiting.splice(0, AT_ONCE)) answer();
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#goOn(), PATIENCE_MS);
  }
}
