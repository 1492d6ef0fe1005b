import type { DeriveEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import { askWallet, type WalletQuestion } from "tallystick-protocol/erc1271/askWallet";
import { TallystickError } from "tallystick-protocol/errors";
import { recordSigningHash } from "tallystick-protocol/records/record";
import { forEachAtOnce } from "tallystick-sdk/forEachAtOnce";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient } from "viem";

/** The most records about which the chain is asked, and the most hex digits of their signatures that are kept. */
const MAX_RECORDS = 10_000;
const MAX_DIGITS = 2 ** 26;
const TIMEOUT_MS = 30_000;
const AT_ONCE = 8;

/** After this many questions without an answer, nothing more is asked. */
const MAX_FAILURES = 16;

/** A record whose signer is a contract, by the word of a log. */
type Word = { where: string; block: number; accepted: boolean; question: WalletQuestion };

/** How the chain answered: `wrong` has a sentence for each word that is not true. */
export type ComparedWords = { confirmed: number; wrong: string[]; unknown: number };

/**
 * Compares what a log says of contract wallets' signatures with the chain. The log says that a contract accepted a
 * signature in a block. Whoever made the log could say so of any account, and so forge its records.
 */
export class ContractWords {
  readonly #words: Word[] = [];
  #digits = 0;
  #left = 0;

  /** Takes note of an event that was applied. */
  note(event: DeriveEvent): void {
    if (event.kind !== "record" || event.erc1271 === undefined) return;
    const { signer, signature, body, block, ledger, seq, erc1271: accepted } = event;
    this.#digits += signature.length;
    if (this.#words.length >= MAX_RECORDS || this.#digits > MAX_DIGITS) {
      this.#left++;
      return;
    }
    const question = { signer, hash: recordSigningHash(body), signature };
    this.#words.push({ where: `record ${seq} of the ledger ${ledger}`, block, accepted, question });
  }

  /**
   * Asks the chain about each record, at its block. The chain's node must have the state of that block.
   *
   * @param witness a contract that exists at those blocks; it shows whether the node has their state
   */
  async compare(
    rpcUrl: string,
    { witness, signal }: { witness?: Address | undefined; signal?: AbortSignal } = {},
  ): Promise<ComparedWords> {
    const client = createPublicClient({
      transport: rpcTransport(rpcUrl, { timeout: TIMEOUT_MS, retryCount: 2 }),
    });
    const told: ComparedWords = { confirmed: 0, wrong: [], unknown: this.#left };
    const enough = new AbortController();
    let [asked, failures] = [0, 0];
    const ends = AbortSignal.any([enough.signal, ...(signal ? [signal] : [])]);
    await forEachAtOnce(this.#words, { atOnce: AT_ONCE, signal: ends }, async (word) => {
      asked++;
      const at = { blockNumber: BigInt(word.block) };
      try {
        const answer = await askWallet(
          { call: async (given) => await client.call({ ...given, ...at }) },
          word.question,
          witness,
        );
        const { signer } = word.question;
        if ((answer === "yes") === word.accepted) told.confirmed++;
        else
          told.wrong.push(
            answer === "no_contract"
              ? `${word.where} is signed by the contract ${signer} according to the log; on the chain ${signer} is no contract`
              : `${word.where}: the log says that the contract ${signer} ${word.accepted ? "accepted" : "refused"} the signature; on the chain it did not`,
          );
      } catch (error) {
        if (!(error instanceof TallystickError) || error.code !== "chain_unavailable") throw error;
        told.unknown++;
        if (++failures >= MAX_FAILURES) enough.abort();
      }
    });
    signal?.throwIfAborted();
    told.unknown += this.#words.length - asked;
    return told;
  }
}
