import { type SignedRecord, signedText } from "tallystick-protocol/records/record";
import type { KnownSigner, KnownSigners } from "tallystick-protocol/signatures/knownSigners";
import type { Question, SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";

/** The number of records whose signatures go to a thread together. */
export const BATCH = 32;

/** The most batches at one time, so that a long segment is not in memory twice. */
const BATCHES_AHEAD = 16;

/** Record types whose bodies hold a second signature, and its key. */
const NESTED: { [type: string]: string } = { listing: "payee_signature", receipt: "buyer_signature" };

/**
 * Lets threads read the signatures of a segment's records while the main thread handles earlier records.
 * Their results go into a cache that the main thread reads before it recovers a key. For a missing result it
 * recovers the key itself. A segment that is smaller than a batch needs no threads.
 */
export class SignersAhead {
  readonly #records: readonly (SignedRecord | null)[];
  readonly #threads: Pick<SignatureThreads, "ask">;
  readonly #known: KnownSigners;
  readonly #batches: Promise<void>[] = [];

  /** @param records the records with signatures to check; null at the places of all other entries */
  constructor(
    records: readonly (SignedRecord | null)[],
    threads: Pick<SignatureThreads, "ask">,
    known: KnownSigners,
  ) {
    this.#records = records;
    this.#threads = threads;
    this.#known = known;
    if (records.length >= BATCH) this.#goOn(0);
  }

  /**
   * Resolves when the threads' result for record `index` is in the cache. Call it for one record after the
   * other.
   */
  async until(index: number): Promise<void> {
    if (index % BATCH !== 0 || this.#batches.length === 0) return;
    const batch = index / BATCH;
    this.#goOn(batch);
    await this.#batches[batch];
  }

  #goOn(batch: number): void {
    while (
      this.#batches.length <= batch + BATCHES_AHEAD &&
      this.#batches.length * BATCH < this.#records.length
    ) {
      this.#batches.push(this.#ask(this.#batches.length * BATCH));
    }
  }

  async #ask(from: number): Promise<void> {
    const questions: Question[] = [];
    const remember: ((signer: KnownSigner["signer"]) => void)[] = [];
    for (const record of this.#records.slice(from, from + BATCH)) {
      if (record === null) continue;
      for (const { signature, key } of signaturesOf(record)) {
        questions.push([signedText(record.body, key), signature]);
        remember.push((signer) => this.#known.add(record.body, { signature, key, signer }));
      }
    }
    if (questions.length === 0) return;
    const readings = await this.#threads.ask(questions);
    for (const [n, { signer }] of (readings ?? []).entries()) remember[n]?.(signer);
  }
}

function signaturesOf({ type, body, signature }: SignedRecord): Omit<KnownSigner, "signer">[] {
  const key = NESTED[type];
  const nested = key !== undefined && Object.hasOwn(body, key) ? body[key] : undefined;
  return typeof nested === "string" ? [{ signature }, { signature: nested, key }] : [{ signature }];
}
