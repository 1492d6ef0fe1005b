import { timingSafeEqual } from "node:crypto";
import { statSync } from "node:fs";
import type { Address } from "tallystick-protocol/address";
import { hashKey, readKeyFile } from "./keyFile.ts";

/** The least time between two readings of the key file, in milliseconds. */
const RECHECK_MS = 1_000;

/** A key's id, and the agent that uses the key for its proposals, if the operator named one. */
export type ApiKey = { id: string; agent?: Address };

type KnownKey = ApiKey & { digest: Buffer };

/**
 * The keys that may settle proposals: those of the configuration, and those of the key file that are not revoked. The file
 * is read again when it changes, so a new or revoked key needs no restart.
 */
export class ApiKeys {
  readonly #fixed: KnownKey[];
  readonly #file: string | undefined;
  #fromFile: KnownKey[] = [];
  #seen: string | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor({ keys, file }: { keys: readonly string[]; file?: string }) {
    this.#fixed = keys.map((key, index) => ({
      id: `config-${index}`,
      digest: Buffer.from(hashKey(key), "hex"),
    }));
    this.#file = file;
  }

  /** Whether there are no keys at all. */
  async isEmpty(): Promise<boolean> {
    await this.#refresh();
    return this.#fixed.length + this.#fromFile.length === 0;
  }

  /** The owner of a key; undefined when the key is unknown or revoked. */
  async find(key: string): Promise<ApiKey | undefined> {
    await this.#refresh();
    const digest = Buffer.from(hashKey(key), "hex");
    // All are compared, in constant time, so that the time of the answer reveals nothing about any key.
    const found = [...this.#fixed, ...this.#fromFile].filter((known) =>
      timingSafeEqual(known.digest, digest),
    );
    const [first] = found;
    return first && { id: first.id, ...(first.agent !== undefined && { agent: first.agent }) };
  }

  async #refresh(): Promise<void> {
    if (this.#file === undefined) return;
    if (performance.now() - this.#checkedAt < RECHECK_MS) return;
    this.#reading ??= this.#read(this.#file).finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(file: string): Promise<void> {
    const stat = statSync(file, { throwIfNoEntry: false });
    const seen = stat && `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
    if (seen !== this.#seen) {
      const keys = await readKeyFile(file);
      this.#fromFile = keys
        .filter(({ revoked_at }) => revoked_at === null)
        .map(({ id, sha256, agent }) => ({
          ...{ id, digest: Buffer.from(sha256, "hex") },
          ...(agent !== undefined && { agent }),
        }));
      this.#seen = seen;
    }
    this.#checkedAt = performance.now();
  }
}
