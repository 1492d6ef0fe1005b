import type { Address } from "../address.ts";
import type { RecordBody } from "../json/recordBody.ts";

/** A signature that was read. */
export type KnownSigner = {
  signature: string;
  /** The key under which the body holds the signature, which is then over the rest; undefined when it is over all of it. */
  key?: string | undefined;
  /** The wallet key that made it; null when none did. */
  signer: Address | null;
};

/**
 * Signers of bodies that were recovered before. A second question needs neither a hash nor a recovery.
 *
 * The body's object identity is the key, and the entry goes with the object. A caller that lets a body be remembered must
 * not change it.
 */
export class KnownSigners {
  readonly #signers = new WeakMap<RecordBody, KnownSigner[]>();

  /** The signer of this very signature, null when there is none; undefined when it is not known. */
  get(body: RecordBody, signature: string, key?: string): Address | null | undefined {
    return this.#signers.get(body)?.find((it) => it.signature === signature && it.key === key)?.signer;
  }

  add(body: RecordBody, found: KnownSigner): void {
    const known = this.#signers.get(body);
    if (known === undefined) this.#signers.set(body, [found]);
    else known.push(found);
  }
}
