import type { Hex } from "tallystick-protocol/hex";

/** A log of the token. `hash` is the hash of its block. */
type TokenLog = { block: number; hash: Hex; log: number; tx: Hex };

/** An AuthorizationUsed (EIP-3009), kept for the Transfer that follows it. */
export type Authorization = { block: number; log: number; tx: string; authorizer: string };

/**
 * Tells which transfers were authorized: the token logs AuthorizationUsed right before the transfer. It keeps
 * what this process has read, so it asks the database only once for each block.
 */
export class Authorizations {
  /** The latest log of the token that was read, with its authorization if it is one. */
  #latest: { hash: Hex; log: number; used: Authorization | null } | null = null;

  used({ block, hash, log, tx }: TokenLog, authorizer: string): Authorization {
    const used = { block, log, tx, authorizer };
    this.#latest = { hash, log, used };
    return used;
  }

  /**
   * @param last reads the authorization that was stored last, perhaps by another process or before a reorg.
   * Logs come in order without a gap. So if an earlier log of the same block was read, no authorization is
   * missing
   */
  async isAuthorized(
    { block, hash, log, tx }: TokenLog,
    from: string,
    last: () => Promise<Authorization | null>,
  ): Promise<boolean> {
    const latest = this.#latest;
    const isKnown = latest !== null && latest.hash === hash && latest.log < log;
    const used = isKnown ? latest.used : await last();
    this.#latest = { hash, log, used: null };
    return (
      used !== null &&
      used.block === block &&
      used.log === log - 1 &&
      used.tx === tx &&
      used.authorizer === from
    );
  }
}
