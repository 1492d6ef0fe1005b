import type { DeriveEvent, LogForm, TickEvent } from "tallystick-derive/events";
import { itemsOf } from "tallystick-derive/lists";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { WATCHED } from "tallystick-derive/relevant/inflow";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { type Params, paramsSchema } from "tallystick-protocol/records/params";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient } from "viem";
import {
  type Completeness,
  checkCompleteness,
} from "../../indexer/logPort/completeness/checkCompleteness.ts";
import { createRpcSource } from "../../indexer/logPort/rpc/createRpcSource.ts";
import { finalityOf } from "../../indexer/relevant/openConfiguredPort.ts";
import { receivedOf, withoutTransfers } from "../../indexer/relevant/receivedOf.ts";

/** The most transfers after a log's last tick that are kept. */
const MAX_LATE = 100_000;
const TIMEOUT_MS = 30_000;

export type TransferCheckOptions = {
  /** A chain node that the reader trusts. It has to know the state of the log's last tick. */
  rpcUrl: string;
  signal: AbortSignal;
  /** Milliseconds for the whole check. */
  deadlineMs: number;
};

/**
 * Compares a log with the chain, as a node does with its own log. What a wallet received according to the log,
 * minus what it sent according to the chain, must be its balance at the log's last tick. So a reader finds a
 * node that left transfers out. It has the same limits as {@link checkCompleteness}.
 */
export class TransferCheck {
  #token: { address: Address; firstBlock: number } | undefined;
  #chainId: number | undefined;
  #form: LogForm = "all";
  #tick: TickEvent | null = null;
  /** The transfers since the last tick. Only at a tick does a log have the whole block. */
  readonly #late = new Map<string, { to: Address; value: bigint }>();

  /** The token that the log's first line names. Whoever made the log chose it. */
  get token(): Address | undefined {
    return this.#token?.address;
  }

  /** The parameters at the log's end. Whoever made the log chose them, too. */
  paramsOf(store: MemoryStore): Params {
    return paramsSchema.parse(JSON.parse(store.rows("state").get(STATE_ID)?.params ?? "{}"));
  }

  /** Takes note of an event that was applied. All events of the log are needed, in their order. */
  note(event: DeriveEvent): void {
    if (event.kind === "params") {
      this.#token = event.token;
      this.#chainId = event.chainId;
      this.#form = event.form ?? "all";
    }
    if (event.kind === "tick") {
      this.#tick = event;
      this.#late.clear();
    }
    if (event.kind !== "transfer" && event.kind !== "history") return;
    // The log may have a transfer twice: at its own place, and as a line about the past that another event
    // needed.
    const { block, log, to, value } = event;
    if (block <= (this.#tick?.block ?? 0) || this.#late.size > MAX_LATE) return;
    this.#late.set(`${block}/${log}`, { to: to as Address, value: BigInt(value) });
  }

  /**
   * Checks every wallet whose transfers the log must have: the watched wallets, or all agents in a log of all
   * transfers.
   *
   * @throws TallystickError `no_comparison` for a log that cannot be compared, for example one of another chain; those of the
   * chain's RPC
   */
  async compare(
    store: MemoryStore,
    { rpcUrl, signal, deadlineMs }: TransferCheckOptions,
  ): Promise<Completeness> {
    if (this.#token === undefined)
      throw noComparison("Its first line does not say which token it is about, and since which block.");
    if (this.#tick === null) throw noComparison("It has no tick, so no block of it is known to be whole.");
    if (this.#late.size > MAX_LATE)
      throw noComparison(`More than ${MAX_LATE} transfers stand after its last tick.`);
    const { address: token, firstBlock } = this.#token;
    const client = createPublicClient({
      transport: rpcTransport(rpcUrl, { timeout: TIMEOUT_MS, retryCount: 2 }),
    });
    const chainId = await client.getChainId();
    // Receipts of other chains than this do not count in the log.
    if (this.#chainId !== undefined && this.#chainId !== chainId)
      throw noComparison(`Its first line names the chain ${this.#chainId}, but --rpc is of ${chainId}.`);
    const rpc = createRpcSource({ url: rpcUrl, token, firstBlock, ...finalityOf(chainId) });
    const call = { signal, deadlineMs };
    const { block, hash } = this.#tick;
    const [head] = await rpc.headers([block], call);
    if (head === undefined) throw noComparison(`The chain has no block ${block}.`);
    if (hash !== undefined && hash !== head.hash)
      throw noComparison(
        `By its last tick block ${block} has the hash ${hash}, but on the chain it has ${head.hash}.`,
      );
    const { hubTransfers } = this.paramsOf(store);
    const wallets = (
      this.#form === "relevant" ? [...itemsOf(store, WATCHED)] : [...store.rows("agent").keys()]
    ) as Address[];
    return await checkCompleteness(
      {
        port: rpc,
        balances: rpc,
        firstBlock,
        watched: wallets,
        round: 0,
        rounds: 1,
        hubTransfers,
        at: head,
        received: async (some) => {
          const flows = receivedOf(store, some, hubTransfers);
          withoutTransfers(flows, this.#late.values());
          return flows;
        },
      },
      call,
    );
  }
}

function noComparison(message: string): TallystickError {
  return new TallystickError({
    code: "no_comparison",
    message: `The log cannot be compared with the chain. ${message}`,
    hint: "A log of a node has a first line that names the token, and it has ticks. --rpc must be a node of its chain. For any other log leave --rpc out.",
  });
}
