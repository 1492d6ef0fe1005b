import type { DeriveEvent, EscrowDeposited, RecordEvent, TransferEvent } from "tallystick-derive/events";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { chainIdOfNetwork } from "tallystick-protocol/erc8004/chainIdOfNetwork";
import {
  receiveWithAuthorizationTypedData,
  transferWithAuthorizationTypedData,
} from "tallystick-protocol/escrow/authorization";
import {
  escrowId,
  type Hire,
  markDeliveredTypedData,
  refundTypedData,
  releaseTypedData,
  splitTypedData,
} from "tallystick-protocol/escrow/hire";
import type { RecordBody, RecordJson } from "tallystick-protocol/json/recordBody";
import { signBody } from "tallystick-protocol/records/record";
import { encodeFunctionData, type Hex, keccak256, toHex } from "viem";
import { ESCROW, START, wallet } from "../../derive/eventLog.ts";
import { CHAIN_ID, type LocalChain, type Wallet } from "../support/localChain.ts";
import type { TestLedger } from "../support/testLedger.ts";
import { ARBITER, actor, allowanceSlot, balanceSlot } from "./actors.ts";
import { CROWD, CROWD_GAS, crowdCalls, isOfCrowd } from "./crowd.ts";

const FOREVER = 2n ** 48n;
const RICH = toHex(10n ** 15n, { size: 32 });
const ENDLESS = toHex(2n ** 256n - 1n, { size: 32 });
const WALLETS = Array.from({ length: 30 }, (_, n) => 1 + n);
/** The largest number of transactions in one block. The gas limits of more transactions do not fit. */
const MAX_PER_BLOCK = 60;
const GAS = 700_000n;
/** The number of usual transactions that have together the gas limit of one call of the crowd's contract. */
const CROWD_ROOM = Math.ceil(Number(CROWD_GAS) / Number(GAS));
/** A deadline comes a few blocks after its deposit. Most settlements come before the deadline, and some after it. */
const SECONDS_TO_DEADLINE = 3_000n;
/** For each gap in a generated log, the number of blocks on the chain: less than {@link BATCH_BLOCKS}, or as many. */
const GAPS = new Map([
  [1, 1],
  [60, 4],
  [256, 8],
]);
/** `deployBatchBlocks` on the real chain, where 256 blocks would take too long. */
export const BATCH_BLOCKS = 8;

export type FollowedLedger = { id: Hex; ledger: TestLedger; publish: (ledger: TestLedger) => Promise<void> };

/** Options for a log that needs other values than a usual generated log. */
export type Realization = {
  /** The numbers of its wallets. */
  wallets?: readonly number[];
  /** The wallet on the chain for a wallet of the log. */
  actorOf?: (n: number) => Wallet;
  /** A parameter that its records of parameters get. */
  deployBatchBlocks?: number;
  /** Parameters that its records of parameters get if they do not have them. */
  kept?: RecordBody;
};

/** The state of playing a log, so that a reorg can go back to it. */
export type Progress = {
  nonce: number;
  time: bigint;
  version: number;
  hubs: Address[];
  /** The real hash or escrow id for each generated one. */
  names: Map<string, string>;
  hires: Map<string, { hire: Hire; id: Hex; delivered: boolean; settled: boolean }>;
  ledgers: TestLedger[];
  /** The anchored size of each ledger. */
  anchored: number[];
  nextLedger: number;
};

/**
 * Plays a generated log on a chain: real transfers and authorizations, a real escrow, records that real keys sign and
 * that are anchored. Some events of a generated log are impossible on a chain (one transaction in two blocks, a
 * delivery after the deadline). The class plays them in a similar way or leaves them out, because tests compare only
 * what the node reads.
 */
export class RealizedLog {
  readonly groups: DeriveEvent[][];
  readonly #chain: LocalChain;
  readonly #run: number;
  readonly #followed: FollowedLedger[];
  readonly #names = new Map<string, string>();
  readonly #actors = new Map<Address, Wallet>();
  readonly #base: bigint;
  readonly #deployBatchBlocks: number;
  readonly #kept: RecordBody;
  /** Transactions whose hash a receipt names before they are sent. */
  readonly #signedAhead = new Map<DeriveEvent, { hash: Hex; raw: Hex }>();
  progress: Progress;

  constructor(
    chain: LocalChain,
    run: number,
    log: DeriveEvent[],
    followed: FollowedLedger[],
    progress: Progress,
    {
      wallets = WALLETS,
      actorOf = (n) => actor(run, n),
      deployBatchBlocks = BATCH_BLOCKS,
      kept = {},
    }: Realization = {},
  ) {
    this.#chain = chain;
    this.#kept = kept;
    this.#deployBatchBlocks = deployBatchBlocks;
    this.#run = run;
    this.#followed = followed;
    this.groups = [...Map.groupBy(log, (it) => it.block).values()];
    this.progress = progress;
    this.#base = progress.time + 100n;
    for (const n of wallets) {
      const it = actorOf(n);
      this.#actors.set(it.address, it);
      this.#names.set(wallet(n), it.address);
    }
  }

  /** Gives the wallets of this run money without a transfer. A transfer would count as received money. */
  async prepare(): Promise<void> {
    const { token, relayer } = this.#chain;
    const wallets = [...this.#actors.values()].map(({ address }) => address);
    await this.#chain.store(token, [
      ...wallets.map((it) => [balanceSlot(it), RICH] as const),
      ...wallets.map((it) => [allowanceSlot(it, relayer), ENDLESS] as const),
    ]);
    await this.#signAhead();
  }

  /**
   * Plays the events of one block of the generated log, after the gap before this block. They are in one block if they
   * fit.
   */
  async realize(index: number): Promise<void> {
    const group = this.groups[index] ?? [];
    const [first] = group;
    if (first === undefined) return;
    const { client } = this.#chain;
    const gap = first.block - (this.groups[index - 1]?.[0]?.block ?? first.block - 1);
    for (let n = 1; n < (GAPS.get(gap) ?? 1); n++) await this.#mine(this.progress.time + 1n);
    const planned = this.#base + BigInt(first.time - START);
    const time = planned > this.progress.time ? planned : this.progress.time + 1n;

    const sent: Hex[] = [];
    let [records, waiting] = [0, 0];
    const anchor = async () => {
      if (records > 0) sent.push(await this.#anchor());
      records = 0;
    };
    const mine = async () => {
      await this.#mine(this.#later(time));
      waiting = 0;
    };
    await client.setAutomine(false);
    try {
      const crowded = group.filter(isOfCrowd);
      for (const data of crowdCalls(crowded)) {
        if (waiting + CROWD_ROOM > MAX_PER_BLOCK) await mine();
        sent.push(await this.#send(CROWD, data, CROWD_GAS));
        waiting += CROWD_ROOM;
      }
      for (const event of group) {
        if (isOfCrowd(event)) continue;
        if (event.kind === "record") {
          await this.#append(event);
          records++;
          continue;
        }
        await anchor();
        const hash = await this.#realize(event, time, group);
        if (hash === null) continue;
        sent.push(hash);
        if (++waiting >= MAX_PER_BLOCK) await mine();
      }
      await anchor();
      await mine();
    } finally {
      await client.setAutomine(true);
    }
    for (const hash of sent) {
      const { status } = await client.getTransactionReceipt({ hash });
      if (status !== "success")
        throw new Error(`A transaction of block ${first.block} of run ${this.#run} failed.`);
    }
  }

  /** Mines an empty block, a second after the last. */
  mineOn(): Promise<void> {
    return this.#mine(this.progress.time + 1n);
  }

  /** This time, or the first possible time of the next block. */
  #later(time: bigint): bigint {
    return time > this.progress.time ? time : this.progress.time + 1n;
  }

  async #mine(time: bigint): Promise<void> {
    await this.#chain.client.setNextBlockTimestamp({ timestamp: time });
    await this.#chain.client.request({ method: "evm_mine", params: undefined } as never);
    this.progress.time = time;
  }

  async #realize(event: DeriveEvent, time: bigint, group: DeriveEvent[]): Promise<Hex | null> {
    switch (event.kind) {
      case "transfer": {
        // The escrow contract makes this transfer itself.
        if (event.from === ESCROW) return null;
        // A deposit makes its own transfer.
        const isDeposit = group.some((it) => it.kind === "escrow.deposited" && it.tx === event.tx);
        return isDeposit ? null : this.#transfer(event);
      }
      case "escrow.deposited":
        return this.#deposit(event, time);
      case "escrow.delivered":
      case "escrow.released":
      case "escrow.refunded":
      case "escrow.timedOut":
        return this.#settle(event, time);
      default:
        return null;
    }
  }

  async #transfer(event: TransferEvent): Promise<Hex> {
    const ahead = this.#signedAhead.get(event);
    if (ahead !== undefined) {
      this.progress.names.set(event.tx, ahead.hash);
      return this.#chain.client.sendRawTransaction({ serializedTransaction: ahead.raw });
    }
    const hash = await this.#send(this.#chain.token, await this.#transferData(event));
    this.progress.names.set(event.tx, hash);
    return hash;
  }

  async #transferData(event: TransferEvent): Promise<Hex> {
    if (event.from === ZERO_ADDRESS) {
      const args = [this.#actor(event.to).address, BigInt(event.value)] as const;
      return encodeFunctionData({ abi: testUsdcAbi, functionName: "mint", args });
    }
    const [from, to] = [this.#actor(event.from), this.#actor(event.to)];
    const value = BigInt(event.value);
    if (!event.authorized) {
      const args = [from.address, to.address, value] as const;
      return encodeFunctionData({ abi: testUsdcAbi, functionName: "transferFrom", args });
    }
    const nonce = keccak256(toHex(`${this.#run} ${event.block} ${event.log}`));
    const terms = { from: from.address, to: to.address, value, validAfter: 0n, validBefore: FOREVER, nonce };
    const signature = await from.account.signTypedData(
      transferWithAuthorizationTypedData(terms, this.#domain),
    );
    const args = [terms.from, terms.to, value, 0n, FOREVER, nonce, signature] as const;
    return encodeFunctionData({ abi: testUsdcAbi, functionName: "transferWithAuthorization", args });
  }

  /** A receipt may name a later payment. So a separate sender signs the transaction of this payment now. */
  async #signAhead(): Promise<void> {
    const { client, token } = this.#chain;
    const log = this.groups.flat();
    const seen = new Set<string>();
    for (const [index, event] of log.entries()) {
      if (event.kind === "transfer") seen.add(event.tx);
      const tx = event.kind === "record" ? event.body.tx_hash : undefined;
      if (typeof tx !== "string" || seen.has(tx)) continue;
      seen.add(tx);
      const payment = log.slice(index).find((it) => it.kind === "transfer" && it.tx === tx);
      if (payment?.kind !== "transfer") continue;
      const sender = actor(this.#run, 1_000 + index);
      await client.setBalance({ address: sender.address, value: 10n ** 18n });
      const wallets = [...this.#actors.values()].map(({ address }) => address);
      await this.#chain.store(
        token,
        wallets.map((it) => [allowanceSlot(it, sender.address), ENDLESS] as const),
      );
      const raw = await sender.account.signTransaction({
        ...FEES,
        to: token,
        data: await this.#transferData(payment),
        nonce: 0,
      });
      this.#signedAhead.set(payment, { raw, hash: keccak256(raw) });
      this.#names.set(tx, keccak256(raw));
    }
  }

  async #deposit(event: EscrowDeposited, time: bigint): Promise<Hex> {
    const { escrow } = this.#chain;
    const [buyer, seller] = [this.#actor(event.buyer), this.#actor(event.seller)];
    const hire: Hire = {
      hireId: event.hireId,
      buyer: buyer.address,
      seller: seller.address,
      payee: this.#payeeOf(event),
      amount: BigInt(event.amount),
      fee: 0n,
      feeRecipient: `0x${"0".repeat(40)}`,
      deadline: time + SECONDS_TO_DEADLINE,
      arbiter: actor(this.#run, ARBITER).address,
    };
    const id = escrowId(hire, { chainId: CHAIN_ID, escrow });
    this.progress.names.set(event.escrowId, id);
    this.progress.hires.set(event.escrowId, { hire, id, delivered: false, settled: false });
    const terms = { from: buyer.address, to: escrow, value: hire.amount };
    const authorization = { ...terms, validAfter: 0n, validBefore: FOREVER, nonce: id };
    const signature = await buyer.account.signTypedData(
      receiveWithAuthorizationTypedData(authorization, this.#domain),
    );
    const args = [hire, 0n, FOREVER, signature] as const;
    return this.#send(
      escrow,
      encodeFunctionData({ abi: hireEscrowAbi, functionName: "depositWithAuthorization", args }),
    );
  }

  /**
   * The payee of a deposit, or the zero address if the payee is the seller, the buyer or unknown. The zero address
   * means the seller.
   */
  #payeeOf({ payee, seller, buyer }: EscrowDeposited): Address {
    const isOther = payee !== seller && payee !== buyer && this.#names.has(payee);
    return isOther ? this.#actor(payee).address : `0x${"0".repeat(40)}`;
  }

  async #settle(
    event: Extract<DeriveEvent, { kind: `escrow.${"delivered" | "released" | "refunded" | "timedOut"}` }>,
    time: bigint,
  ): Promise<Hex | null> {
    const { escrow } = this.#chain;
    const held = this.progress.hires.get(event.escrowId);
    if (held === undefined || held.settled) return null;
    const { hire, id } = held;
    const late = time >= hire.deadline;
    const deployment = { chainId: CHAIN_ID, escrow };
    const call = (parameters: Parameters<typeof encodeFunctionData<typeof hireEscrowAbi>>[0]) =>
      this.#send(escrow, encodeFunctionData(parameters));
    const by = (address: Address) => this.#actor(address).account;
    const abi = hireEscrowAbi;
    if (event.kind === "escrow.delivered") {
      if (late || held.delivered) return null;
      this.progress.hires.set(event.escrowId, { ...held, delivered: true });
      const typed = markDeliveredTypedData(id, deployment, event.resultHash);
      const signature = await by(hire.seller).signTypedData(typed);
      return call({ abi, functionName: "markDelivered", args: [hire, event.resultHash, signature] });
    }
    if (event.kind === "escrow.timedOut" && !late) return null;
    this.progress.hires.set(event.escrowId, { ...held, settled: true });
    if (event.kind === "escrow.timedOut") return call({ abi, functionName: "timeoutRefund", args: [hire] });
    if (event.kind === "escrow.refunded") {
      const signer = this.#actor(event.by);
      const signature = await signer.account.signTypedData(refundTypedData(id, signer.address, deployment));
      return call({ abi, functionName: "refund", args: [hire, signer.address, signature] });
    }
    const toSeller = BigInt(event.toSeller);
    if (toSeller === hire.amount) {
      const signature = await by(hire.buyer).signTypedData(releaseTypedData(id, deployment));
      return call({ abi, functionName: "release", args: [hire, signature] });
    }
    const signature = await by(hire.buyer).signTypedData(splitTypedData(id, toSeller, deployment));
    return call({ abi, functionName: "split", args: [hire, toSeller, signature] });
  }

  /** Signs a record, with all names replaced by those of this chain, and appends it to the ledger that is next. */
  async #append(event: RecordEvent): Promise<void> {
    const ledger = this.progress.ledgers[this.progress.nextLedger] as TestLedger;
    const signer = this.#actor(event.signer);
    let body = this.#renamed(event.body) as RecordBody;
    if (event.type === "params") body = this.#params(body);
    // Generated logs are of the chain 8453.
    if (event.type === "receipt" && chainIdOfNetwork(String(body.network)) === 8_453)
      body = { ...body, network: `eip155:${CHAIN_ID}` };
    for (const [key, by] of [
      ["payee_signature", body.payee],
      ["buyer_signature", body.buyer],
    ] as const) {
      if (body[key] === undefined) continue;
      const { [key]: _, ...rest } = body;
      const { privateKey } = this.#actor(by as Address);
      body = { ...rest, [key]: await signBody(rest, { privateKey }) };
    }
    if (body.ledger !== undefined) {
      // If the generated record names its own ledger, this record does too. Otherwise it names the other ledger.
      const turn = this.progress.nextLedger + (event.body.ledger === event.ledger ? 0 : 1);
      body = { ...body, ledger: this.#followed[turn % this.#followed.length]?.id ?? "local" };
    }
    const entry = await ledger.sign(signer, event.type, body);
    this.progress.names.set(event.hash, entry.currentHash);
  }

  #params(body: RecordBody): RecordBody {
    this.progress.version++;
    const others = this.progress.hubs.filter((hub) => !this.#actors.has(hub));
    this.progress.hubs = [...others, ...((body.hubs ?? []) as Address[])];
    const { version, hubs } = this.progress;
    const escrows = { [this.#chain.escrow]: "swarmwage-partnered" };
    return {
      ...this.#kept,
      ...body,
      version,
      hubs: [...hubs],
      escrows,
      deployBatchBlocks: this.#deployBatchBlocks,
    };
  }

  /** Anchors the appended records. The next records go to the other ledger. */
  async #anchor(): Promise<Hex> {
    const turn = this.progress.nextLedger;
    this.progress.nextLedger = (turn + 1) % this.#followed.length;
    const ledger = this.progress.ledgers[turn] as TestLedger;
    const { id, publish } = this.#followed[turn] as FollowedLedger;
    await publish(ledger);
    const from = this.progress.anchored[turn] ?? 0;
    this.progress.anchored[turn] = ledger.size;
    const proof = ledger.tree.consistencyProof(from, ledger.size).map((hash) => toHex(hash));
    const args = [id, BigInt(ledger.size), ledger.root(), proof, "0x"] as const;
    return this.#send(
      this.#chain.anchoredLedger,
      encodeFunctionData({ abi: anchoredLedgerAbi, functionName: "anchor", args }),
    );
  }

  #send(to: Address, data: Hex, gas = GAS): Promise<Hex> {
    return this.#chain.client.sendTransaction({ ...FEES, gas, to, data, nonce: this.progress.nonce++ });
  }

  /** The same value with the addresses, hashes, hosts and capabilities of this run on this chain. */
  #renamed(value: RecordJson): RecordJson {
    if (typeof value === "string") {
      const name = this.progress.names.get(value) ?? this.#names.get(value);
      if (name !== undefined) return name;
      if (/^https:/.test(value)) return value.replace(/^https:\/\//, `https://run-${this.#run}-`);
      if (/^(text|code|chart|data)\.[a-z]+$/.test(value)) return `${value}${this.#run}`;
      return /^(hire-\d+|again)$/.test(value) ? `${this.#run}-${value}` : value;
    }
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((it) => this.#renamed(it));
    return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, this.#renamed(it)]));
  }

  #actor(address: Address): Wallet {
    const it = this.#actors.get((this.#names.get(address) ?? address) as Address);
    if (it === undefined) throw new Error(`${address} is no wallet of the generated log.`);
    return it;
  }

  get #domain() {
    return { name: "USD Coin", version: "2", chainId: CHAIN_ID, token: this.#chain.token };
  }
}

const FEES = {
  chainId: CHAIN_ID,
  type: "eip1559",
  gas: GAS,
  maxFeePerGas: 10_000_000_000n,
  maxPriorityFeePerGas: 1_000_000_000n,
} as const;

/** A copy that does not change when the original changes. */
export function copyOf(progress: Progress): Progress {
  return {
    ...progress,
    hubs: [...progress.hubs],
    names: new Map(progress.names),
    hires: new Map(progress.hires),
    ledgers: progress.ledgers.map((it) => it.copy()),
    anchored: [...progress.anchored],
  };
}
