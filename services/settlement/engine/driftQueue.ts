/** How many answers go out whenever the head moves. One would do if every agent came back; two, in case one does not. */
const AT_ONCE = 2;

/** How long the next ones wait for those before them to come back, in milliseconds. */
const PATIENCE_MS = 10;

/** Most answers that are held back at one time; beyond that they go out at once. */
const MOST_WAITING = 10_000;

/** Most tasks that are remembered for having been rejected. */
const MOST_REMEMBERED = 10_000;

type Waiting = { since: number; answer: () => void };

/**
 * The order in which agents that proposed on an old head are told so.
 *
 * Were all of them told at once, all would propose again on the one new head, and all but one in vain: the more agents,
 * the fewer entries, and chance would decide whose. So the answers go out a few at a time, whenever the head has moved
 * (or nobody came back), those first whose task has waited longest since its first rejection. What an answer says does
 * not change by that, only when it comes.
 */
export class DriftQueue {
  readonly #waiting: Waiting[] = [];
  /** When each task was first rejected, as a running number. */
  readonly #since = new Map<string, number>();
  readonly #isMoving: () => boolean;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param isMoving whether the head is about to be built upon: it would lead whoever is told of it to the next drift */
  constructor(isMoving: () => boolean = () => false) {
    this.#isMoving = isMoving;
  }

  /** Whether answers are being held back. */
  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when it is this task's turn to be told. */
  wait(taskId: string): Promise<void> {
    const since = this.#remember(taskId);
    if (this.#waiting.length >= MOST_WAITING) return Promise.resolve();
    return new Promise((answer) => {
      let at = this.#waiting.length;
      while (at > 0 && (this.#waiting[at - 1] as Waiting).since > since) at--;
      this.#waiting.splice(at, 0, { since, answer });
      this.#timer ??= setTimeout(() => this.#goOn(), PATIENCE_MS);
    });
  }

  /** Tell it that the head has moved. */
  moved(): void {
    if (this.#waiting.length > 0) this.#release();
  }

  /** Tell it that a task was settled: if it is rejected again, it waits anew. */
  settled(taskId: string): void {
    this.#since.delete(taskId);
  }

  #remember(taskId: string): number {
    const known = this.#since.get(taskId);
    if (known !== undefined) return known;
    const since = this.#count++;
    this.#since.set(taskId, since);
    if (this.#since.size > MOST_REMEMBERED) this.#since.delete(this.#since.keys().next().value as string);
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
