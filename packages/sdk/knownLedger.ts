import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { TallystickError } from "tallystick-protocol/errors";
import { toBareHex } from "tallystick-protocol/hex";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { isLedgerName, type LedgerName } from "tallystick-protocol/records/ledgerName";
import { type Fetch, requestService } from "./requestService.ts";
import type { KeyValueStore } from "./store/keyValueStore.ts";

export type KnownLedgerParameters = {
  /** The URL of the node. */
  baseUrl: string;
  /** The ledger, if the caller knows it already. Then the node is not asked. */
  ledger?: LedgerName | undefined;
  /** Stores the first answer. It is never replaced by a later one. */
  store: KeyValueStore;
  fetch?: Fetch | undefined;
};

/**
 * Finds the ledger to sign for. Ratings and telemetry name their ledger, so nobody can copy them to another
 * ledger.
 *
 * A node is asked once (`GET /v1/ledger/latest`), and its first answer is kept. If the node names another ledger
 * later, it lies or was replaced. It gets no signature for the other ledger. The name `local` belongs to no ledger in
 * particular, so it is never accepted from a node; the caller has to give it.
 *
 * @returns a function whose `signal` ends the wait for the node. It throws TallystickError `ledger_unknown`, ServiceError
 * when the node cannot be asked, or the signal's reason
 */
export function knownLedger({ baseUrl, ledger, store, fetch }: KnownLedgerParameters) {
  const key = `ledger/${toBareHex(sha256(utf8ToBytes(baseUrl.replace(/\/$/, "")))).slice(0, 32)}`;
  let known: LedgerName | undefined = ledger;
  return async (signal?: AbortSignal): Promise<LedgerName> => {
    known ??= await store.get<LedgerName>(key);
    if (known !== undefined) return known;
    const { text } = await requestService({ baseUrl, path: "/v1/ledger/latest", fetch, signal });
    const named = ledgerIn(text);
    if (!isLedgerName(named) || named === "local") {
      throw new TallystickError({
        code: "ledger_unknown",
        message: `${baseUrl} names no ledger that a rating could be signed for.`,
        hint: 'Give createBuyer `ledger`, or an MCP server TALLYSTICK_LEDGER: the id on chain, or "local" for a ledger without a chain.',
      });
    }
    // Another process may have learned it first: then its answer counts.
    await store.putNew(key, named);
    known = (await store.get<LedgerName>(key)) ?? named;
    return known;
  };
}

function ledgerIn(text: string): unknown {
  return (tryForeignJson(text) as { ledger?: unknown } | null | undefined)?.ledger;
}
