import { refusal } from "./errors.ts";

/** Counts and limits the open subscriptions of a process. Each holds at most one batch of messages. */
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
    const message = `This node serves ${this.most} subscriptions at once; ask another node, or try again later.`;
    throw refusal("TOO_MANY_SUBSCRIPTIONS", message, { status: 503, retryAfter: 30 });
  }

  /** Counts a subscription until the returned function is called. */
  enter(): () => void {
    this.#count++;
    return () => {
      this.#count--;
    };
  }
}
