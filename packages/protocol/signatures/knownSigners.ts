import type { Address } from "../address.ts";
import type { RecordBody } from "../json/recordBody.ts";

/** A signature that was read. */
export type KnownSigner = {
  signature: string;
  /**
   * The key of the body that has the signature. Then the signature covers the rest of the body. Undefined if
   * the signature is outside and covers the whole body.
   */
  key?: string | undefined;
  /** The wallet key that made it; null when none did. */
  signer: Address | null;
};

/**
 * Remembers the signers of bodies, so that a second question about a body needs no hash and no recovery.
 *
 * The body's object identity is the key, and the entry disappears with the object. A caller must not change a body
 * after it was remembered.
 */
export class KnownSigners {
  readonly #signers = new WeakMap<RecordBody, KnownSigner[]>();

  /** The signer of exactly this signature; null if no key made it; undefined if it is not remembered. */
  get(body: RecordBody, signature: string, key?: string): Address | null | undefined {
    return this.#signers.get(body)?.find((it) => it.signature === signature && it.key === key)?.signer;
  }

  add(body: RecordBody, found: KnownSigner): void {
    const known = this.#signers.get(body);
    if (known === undefined) this.#signers.set(body, [found]);
    else known.push(found);
  }
}
