/** How many answers go out each time the head moves. One would do if every agent came back; two, in case one does not. */
const AT_ONCE = 2;

/** How long the next agents wait for those before them to come back, in milliseconds. */
const PATIENCE_MS = 10;

/** The most answers that are held back at one time. Further answers go out at once. */
const MAX_WAITING = 10_000;

/** The most rejected tasks that are remembered. */
const MAX_REMEMBERED = 10_000;

type Waiting = { since: number; answer: () => void };

/**
 * The order in which agents learn that they proposed on an old head.
 *
 * If all were told at once, all would propose again on the one new head, and all but one in vain. More agents would mean
 * fewer entries, and chance would decide whose. So the answers go out a few at a time, each time the head has moved (or
 * nobody came back). The task that has waited longest since its first rejection comes first. This changes only when an
 * answer comes, not what it says.
 */
export class DriftQueue {
  readonly #waiting: Waiting[] = [];
  /** When each task was first rejected, as a running number. */
  readonly #since = new Map<string, number>();
  readonly #isMoving: () => boolean;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param isMoving whether an entry on this head is on its way: anyone told of it now would drift again */
  constructor(isMoving: () => boolean = () => false) {
    this.#isMoving = isMoving;
  }

  /** Whether answers are being held back. */
  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when this task may be told. */
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

  /** Call it when the head has moved. */
  moved(): void {
    if (this.#waiting.length > 0) this.#release();
  }

  /** Call it when a task was settled. If it is rejected again, it waits from the start. */
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
