import { expect } from "chai";
import type { RecordEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import { paramsSchema } from "tallystick-protocol/records/params";
import { signBody } from "tallystick-protocol/records/record";
import { type LocalAccount, privateKeyToAccount } from "viem/accounts";
import { ChainTransfers } from "../../../indexer/relevant/chainView.ts";
import { MAX_TRANSFERS } from "../../../indexer/relevant/finalTransfers.ts";
import { MOST_LONG, readAhead } from "../../../indexer/relevant/readAhead.ts";
import { readPastOf } from "../../../indexer/relevant/readPast.ts";
import { MOST_AHEAD, MOST_BESIDE, MOST_WALLETS } from "../../../indexer/relevant/readPaths.ts";
import type { RetryRead } from "../../../indexer/relevant/retryRead.ts";
import { ESCROW, EventLog, TOKEN, wallet } from "../../derive/eventLog.ts";
import { hashOf, portOf } from "./support/portOf.ts";

const params = paramsSchema.parse({});
const [EXCHANGE, CUSTOMER, SELLER, BUYER] = [wallet(1), wallet(2), wallet(3), wallet(4)];
const read: RetryRead = (work) => work({ signal: new AbortController().signal, deadlineMs: 1_000 });

/** A chain on which an exchange pays a customer, and a buyer pays a seller. */
function chainWithPayments() {
  const log = new EventLog();
  log.after(60).transfer(wallet(9), EXCHANGE, 900_000_000);
  const withdrawal = log.after(60).transfer(EXCHANGE, CUSTOMER, 5_000_000);
  const payment = log.after(60).transfer(BUYER, SELLER, 500_000, { authorized: true });
  return { log, withdrawal, payment };
}

/** Reads ahead for the records of a log, which are in its last block. All blocks are final. */
async function readFor(log: EventLog) {
  const port = portOf(log.events);
  const last = log.events.at(-1)?.block ?? 0;
  port.final = last;
  const chain = new ChainTransfers({ port, token: TOKEN, firstBlock: 0, readOnce: read });
  const view = await chain.at({ block: last, hash: hashOf(last) }, read);
  const records = log.events.filter((it): it is RecordEvent => it.kind === "record");
  await readAhead(view, records, params, () => false);
  const { calls } = port;
  const past = readPastOf(view, async () => false);
  /** How many more requests it takes to read what a wallet received before the end of the log. */
  const further = async (asked: Address) => {
    const before = { block: last + 1, log: 0 };
    const [first] = records as [RecordEvent];
    const { hubTransfers: limit } = params;
    await past([{ kind: "transfersTo", wallet: asked, known: 0, after: null, before, limit }], first);
    return port.calls - calls;
  };
  return {
    calls,
    further,
    isRead: (asked: Address) => view.transfers.isKnown("transfersTo", asked, last, 1),
  };
}

/**
 * The number of requests for the deposits of so many new buyers, each with its past. Deposits that are not final are in one block.
 */
async function requestsOf(deposits: number, finality: number): Promise<number> {
  const { log } = chainWithPayments();
  const buyers = Array.from({ length: deposits }, (_, n) => wallet(100 + n));
  for (const buyer of buyers) log.after(60).transfer(EXCHANGE, buyer, 2_000_000);
  const escrows = { [ESCROW]: "swarmwage-partnered" };
  log.after(60, finality + 1);
  for (const buyer of buyers) {
    if (finality === 0) log.after(60);
    log.deposit(SELLER, buyer, { amount: 1 });
  }
  const port = portOf(log.events);
  const last = log.events.at(-1)?.block ?? 0;
  port.final = last - finality;
  const chain = new ChainTransfers({ port, token: TOKEN, firstBlock: 0, readOnce: read });
  let calls = 0;
  for (const event of log.events) {
    if (event.kind !== "escrow.deposited") continue;
    const { block, buyer } = event;
    const view = await chain.at({ block, hash: hashOf(block) }, read);
    const before = port.calls;
    await readAhead(view, [event], paramsSchema.parse({ escrows }), () => false);
    const past = readPastOf(view, async () => false);
    const { hubTransfers: limit } = params;
    const asked = {
      kind: "transfersTo",
      wallet: buyer,
      known: 0,
      after: null,
      before: event,
      limit,
    } as const;
    const [received] = await past([asked], event);
    expect(received?.map(({ from }) => from)).to.deep.equal([EXCHANGE]);
    calls += port.calls - before;
  }
  return calls;
}

const addressOf = ({ address }: LocalAccount) => address.toLowerCase() as Address;

const receipt = (agent: Address, buyer: Address, tx: string, amount: number) => ({
  agent_id: agent,
  buyer,
  tx_hash: tx,
  amount_usdc_atomic: String(amount),
});

describe("what is read in advance for records and deposits", () => {
  it("takes as many requests for fifty receipts without a payment as for two", async () => {
    const counts = await Promise.all(
      [2, 50].map(async (count) => {
        const { log } = chainWithPayments();
        log.after(60);
        const signers = Array.from({ length: count }, (_, n) => wallet(100 + n));
        // Some name a transaction that does not exist, others one in a form that is not looked up.
        for (const [n, signer] of signers.entries())
          log.said("receipt", signer, receipt(signer, BUYER, n % 2 === 0 ? log.hash() : "0xAB", 500_000));
        const { calls, further } = await readFor(log);
        for (const signer of signers) expect(await further(signer)).to.equal(0);
        return calls;
      }),
    );
    expect(counts[1]).to.equal(counts[0]);
  });

  it("takes as many requests for fifty payees of listings as for two", async () => {
    const counts = await Promise.all(
      [2, 50].map(async (count) => {
        const { log } = chainWithPayments();
        log.after(60);
        const payees = Array.from({ length: count }, (_, n) =>
          privateKeyToAccount(`0x${(n + 1).toString(16).padStart(64, "0")}`),
        );
        for (const account of payees) {
          const body = { agent_id: SELLER, capability: "text.translate", payee: addressOf(account) };
          const payee_signature = await signBody(body, { account });
          log.said("listing", SELLER, { ...body, payee_signature });
        }
        const { calls, further } = await readFor(log);
        for (const account of payees) expect(await further(addressOf(account))).to.equal(0);
        return calls;
      }),
    );
    expect(counts[1]).to.equal(counts[0]);
  });

  it("takes as many requests for fifty deposits of new buyers as for two, also in blocks that are not final", async () => {
    for (const finality of [0, 100]) {
      const counts = await Promise.all([2, 50].map((count) => requestsOf(count, finality)));
      expect(counts[1], `finality of ${finality} blocks`).to.equal(counts[0]);
    }
  });

  it("has the past of the next buyers in memory, also if strangers sent each of them many tiny transfers", async () => {
    expect(MOST_WALLETS * MOST_BESIDE + MOST_LONG * MOST_AHEAD).to.be.below(MAX_TRANSFERS);
    const { log } = chainWithPayments();
    const buyers = Array.from({ length: MOST_LONG + 10 }, (_, n) => wallet(100 + n));
    for (let n = 0; n <= MOST_BESIDE; n++) {
      log.after(60);
      for (const buyer of buyers) log.transfer(CUSTOMER, buyer, 1);
    }
    log.after(60);
    for (const buyer of buyers) log.deposit(SELLER, buyer, { amount: 1 });
    const port = portOf(log.events);
    const last = log.events.at(-1)?.block ?? 0;
    port.final = last;
    const chain = new ChainTransfers({ port, token: TOKEN, firstBlock: 0, readOnce: read });
    const view = await chain.at({ block: last, hash: hashOf(last) }, read);
    const known = (limit: number) =>
      buyers.filter((it) => view.transfers.isKnown("transfersTo", it, last, limit)).length;
    const escrows = { [ESCROW]: "swarmwage-partnered" };
    const deposits = log.events.filter((it) => it.kind === "escrow.deposited");
    for (const [some, count] of [
      [deposits.slice(0, 1), MOST_LONG],
      [deposits.slice(-1), buyers.length],
    ] as const) {
      const { calls } = port;
      await readAhead(view, some, paramsSchema.parse({ escrows }), () => false);
      expect([known(MOST_BESIDE), known(MOST_AHEAD)]).to.deep.equal([buyers.length, count]);
      expect(port.calls - calls).to.be.within(1, 6);
    }
  });

  it("reads the pasts of the next buyers after those of their funders, which could push them out of memory", async () => {
    const { log } = chainWithPayments();
    const buyer = wallet(100);
    log.after(60).transfer(EXCHANGE, buyer, 2_000_000);
    log.after(60).deposit(SELLER, buyer, { amount: 1 });
    const port = portOf(log.events);
    const last = log.events.at(-1)?.block ?? 0;
    port.final = last;
    const chain = new ChainTransfers({ port, token: TOKEN, firstBlock: 0, readOnce: read });
    const view = await chain.at({ block: last, hash: hashOf(last) }, read);
    const asked: Address[] = [];
    const first = view.transfers.first.bind(view.transfers);
    view.transfers.first = (kind, wallets, ...more) => {
      asked.push(...wallets);
      return first(kind, wallets, ...more);
    };
    const escrows = { [ESCROW]: "swarmwage-partnered" };
    const deposits = log.events.filter((it) => it.kind === "escrow.deposited");
    await readAhead(view, deposits, paramsSchema.parse({ escrows }), () => false);
    expect(asked).to.include(EXCHANGE);
    expect(asked.lastIndexOf(buyer)).to.be.above(asked.lastIndexOf(EXCHANGE));
  });

  it("has no past of a wallet that a listing names as its payee, and that did not sign it", async () => {
    const { log } = chainWithPayments();
    log.after(60);
    for (const payee_signature of ["0x01", `0x${"5a".repeat(65)}`, "garbage"])
      log.listing(wallet(50), "text.translate", { payee: EXCHANGE, payee_signature });
    expect((await readFor(log)).isRead(EXCHANGE)).to.equal(false);
  });

  it("has the past of a buyer that paid, and not of a wallet that paid somebody else or another amount", async () => {
    const { log, withdrawal, payment } = chainWithPayments();
    log.after(60);
    const stranger = wallet(50);
    log.said("receipt", SELLER, receipt(SELLER, BUYER, payment, 500_000));
    log.said("receipt", stranger, receipt(stranger, EXCHANGE, withdrawal, 5_000_000));
    log.said("receipt", stranger, { ...receipt(stranger, EXCHANGE, withdrawal, 5_000_000), payee: CUSTOMER });
    log.said("receipt", CUSTOMER, receipt(CUSTOMER, EXCHANGE, withdrawal, 4_000_000));
    const { isRead } = await readFor(log);
    expect([BUYER, SELLER, EXCHANGE].map(isRead)).to.deep.equal([true, true, false]);
  });
});
