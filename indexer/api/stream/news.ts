/** Tells a subscriber that there are new events, and how far back a reorg went. */
export class News {
  #wake: (() => void) | undefined;
  #isNew = false;
  #takenBack: string | null = null;
  hasEnded = false;

  get hasReorg(): boolean {
    return this.#takenBack !== null;
  }

  tell(takenBack: string | null): void {
    if (takenBack !== null && (this.#takenBack === null || takenBack < this.#takenBack)) {
      this.#takenBack = takenBack;
    }
    this.#isNew = true;
    this.#wake?.();
  }

  end(): void {
    this.hasEnded = true;
    this.#wake?.();
  }

  takeReorg(): string | null {
    const position = this.#takenBack;
    this.#takenBack = null;
    return position;
  }

  async next(): Promise<void> {
    if (!this.#isNew && !this.hasEnded)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#isNew = false;
  }
}
