import { refusal } from "./errors.ts";

/** How many subscriptions a process serves at once; each holds a batch of messages at the most. */
export class Followers {
  readonly most: number;
  #count = 0;

  constructor(most: number) {
    this.most = most;
  }

  get count(): number {
    return this.#count;
  }

  /** @throws GraphQLError `TOO_MANY_SUBSCRIPTIONS` */
  checkRoom(): void {
    if (this.#count < this.most) return;
    const message = `This node serves ${this.most} subscriptions at once; ask another, or later.`;
    throw refusal("TOO_MANY_SUBSCRIPTIONS", message, { status: 503, retryAfter: 30 });
  }

  /** Counts one in, until the function it returns is called. */
  enter(): () => void {
    this.#count++;
    return () => {
      this.#count--;
    };
  }
}
