import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { expect } from "chai";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { keyOfPayment } from "tallystick-derive/payments";
import type { Row } from "tallystick-derive/tables";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { defineParams, type Params } from "tallystick-protocol/records/params";
import type { AuditChain, ChainTransfer } from "../../../scripts/audits/auditChain.ts";
import { checkPayments } from "../../../scripts/audits/checkPayments.ts";
import type { DerivedLog } from "../../../scripts/audits/derivedLog.ts";
import { Findings } from "../../../scripts/audits/findings.ts";

const [SELLER, BUYER, TOKEN] = [`0x${"a".repeat(40)}`, `0x${"b".repeat(40)}`, `0x${"c".repeat(40)}`];
const [FIRST_BLOCK, LAST_BLOCK] = [10, 90];
/** The position of each receipt. */
const PLACE = { block: 50, log: 0 };

function receiptOf(n: number, more: Partial<Row<"receipt">> = {}) {
  const receipt: Partial<Row<"receipt">> = {
    id: `receipt ${n}`,
    ...{ agent: SELLER, buyer: BUYER, payee: SELLER, amount: 5_000n, status: "unmatched" },
    ...{ txHash: `0x${n.toString(16).padStart(64, "0")}`, logIndex: null, escrowId: null },
    ...{ paramsHash: "0x01", resultHash: "0x02", buyerSigned: true },
    ...more,
  };
  return receipt as Row<"receipt">;
}

const ESCROW = `0x${"e".repeat(40)}`;

/** The log of a seller that agreed to audits, with these receipts and no payment. */
function logOf(receipts: Row<"receipt">[]): DerivedLog {
  const store = new MemoryStore();
  store.put("agent", { id: SELLER, everConsented: true } as Row<"agent">);
  for (const receipt of receipts) store.put("receipt", receipt);
  const params = { minHireAtomic: "1000", escrows: { [ESCROW]: {} } };
  const places = new Map(receipts.map(({ id }) => [id, PLACE]));
  const blocks = { firstBlock: FIRST_BLOCK, lastBlock: LAST_BLOCK };
  const history = [
    { from: { block: FIRST_BLOCK, log: 0 }, params: defineParams({ escrows: { [ESCROW]: "test" } }) },
  ];
  return { store, params, token: TOKEN, receipts: places, history, ...blocks } as unknown as DerivedLog;
}

/** A chain with these transactions, which notes what it is asked. */
function chainOf(transactions: { [tx: string]: ChainTransfer[] }, escrows: string[] = []) {
  const asked: string[] = [];
  let [running, most] = [0, 0];
  const answer = async <T>(key: string, value: T): Promise<T> => {
    asked.push(key);
    most = Math.max(most, ++running);
    await turn();
    running--;
    return value;
  };
  const chain = {
    transfers: (tx: string) => answer(tx, transactions[tx] ?? []),
    hasEscrow: (_: string, id: string) => answer(id, escrows.includes(id)),
  } as unknown as AuditChain;
  return { chain, asked, most: () => most };
}

const payment = (log: number): ChainTransfer => ({
  block: 40,
  log,
  from: BUYER,
  to: SELLER,
  value: 5_000n,
  authorized: true,
});

describe("the payments that a log leaves out", () => {
  it("are found on the chain, by each receipt that names one", async () => {
    const receipts = Array.from({ length: 40 }, (_, n) => receiptOf(n));
    const tx = receipts[33]?.txHash ?? "";
    const { chain, most } = chainOf({ [tx]: [payment(7)] });
    const found = new Findings();
    await checkPayments(logOf(receipts), chain, found);
    expect(found.all).to.have.length(1);
    expect(found.all[0]).to.deep.include({ holds: false });
    expect(found.all[0]?.what).to.include(`the payment ${tx}-7`).and.include("receipt 33");
    expect(found.unchecked).to.deep.equal([]);
    expect(most(), "questions at the same time").to.equal(16);
  });

  it("are found also if the receipt names a deposit", async () => {
    const { chain } = chainOf({}, ["0x77"]);
    const found = new Findings();
    await checkPayments(logOf([receiptOf(1, { escrowId: "0x77", status: "pending" })]), chain, found);
    expect(found.all.map(({ what }) => what)).to.satisfy(([what]: string[]) => what?.includes("0x77"));
    expect(found.all[0]?.holds).to.equal(false);
  });

  it("are no deposits in an escrow that only a later record names", async () => {
    const later = `0x${"f".repeat(40)}`;
    const log = logOf([receiptOf(1, { escrowId: "0x77", status: "pending" })]);
    Object.assign(log.params, { escrows: { [ESCROW]: "test", [later]: "test" } });
    const chain = { hasEscrow: async (escrow: string) => escrow === later } as unknown as AuditChain;
    const found = new Findings();
    await checkPayments(log, chain, found);
    expect(found.all.map(({ holds }) => holds)).to.deep.equal([true]);
  });

  it("are only those that a receipt can claim, so that nobody can accuse a node by a receipt", async () => {
    const other = `0x${"d".repeat(40)}`;
    const agreed = (log: DerivedLog, block: number) =>
      log.store.put("payee", { id: `${SELLER}/${other}`, block, log: 0 });
    const marked = (log: DerivedLog, id: string, kind: string) =>
      log.store.put("wallet", { id, kind } as Row<"wallet">);
    const later = (log: DerivedLog, block: number, params: Parameters<typeof defineParams>[0]) =>
      log.history.push({ from: { block, log: 0 }, params: defineParams(params) as Params });
    const has = (log: DerivedLog, authorized: boolean) => {
      const id = `${keyOfPayment(receiptOf(1))}/0`;
      log.store.put("payment", { id, log: 7, authorized } as Row<"payment">);
    };
    const alike = Array.from({ length: 101 }, (_, n) => payment(n));
    type Case = {
      receipt?: Partial<Row<"receipt">>;
      transfers?: ChainTransfer[];
      change?: (log: DerivedLog) => void;
    };
    const lacks = async ({ receipt = {}, transfers = [payment(7)], change = () => {} }: Case) => {
      const named = receiptOf(1, receipt);
      const log = logOf([named]);
      change(log);
      const { chain } = chainOf({ [named.txHash]: transfers });
      const found = new Findings();
      await checkPayments(log, chain, found);
      expect(found.unchecked).to.deep.equal([]);
      return found.all.some(({ holds }) => !holds);
    };
    const toOther = { receipt: { payee: other }, transfers: [{ ...payment(7), to: other }] };
    const cases: { [what: string]: [Case, boolean] } = {
      "to the seller": [{}, true],
      "of a receipt that still waits for it": [{ receipt: { status: "pending" } }, true],
      "that the log has": [{ change: (log) => has(log, true) }, false],
      "that the log has without the buyer's authorization": [{ change: (log) => has(log, false) }, true],
      "by a hub": [{ change: (log) => marked(log, BUYER, "hub") }, false],
      "by nobody": [
        { receipt: { buyer: ZERO_ADDRESS }, transfers: [{ ...payment(7), from: ZERO_ADDRESS }] },
        false,
      ],
      "to somebody who never agreed": [toOther, false],
      "to a payee that agreed before": [{ ...toOther, change: (log) => agreed(log, 20) }, true],
      "to a payee that agreed after the payment": [{ ...toOther, change: (log) => agreed(log, 45) }, false],
      "to a payee that agreed after the receipt": [
        {
          ...toOther,
          transfers: [{ ...payment(7), to: other, block: 60 }],
          change: (log) => agreed(log, 55),
        },
        false,
      ],
      "to an escrow": [{ change: (log) => marked(log, SELLER, "escrow") }, false],
      "to a hub": [{ change: (log) => later(log, 20, { hubs: [SELLER as Address] }) }, false],
      "to the pool of an operator of audits": [
        {
          change: (log) => {
            const operators = { [other]: { pool: SELLER as Address } };
            later(log, 20, { audit: { operators } });
          },
        },
        false,
      ],
      "to a wallet that became a hub later": [
        { change: (log) => later(log, 60, { hubs: [SELLER as Address] }) },
        true,
      ],
      "of less than a hire had to cost": [
        {
          change: (log) => {
            later(log, 30, { minHireAtomic: "6000" });
            later(log, 45, {});
          },
        },
        false,
      ],
      "of less than a hire had to cost when the receipt came": [
        { change: (log) => later(log, 45, { minHireAtomic: "6000" }) },
        false,
      ],
      "before the log begins": [{ transfers: [{ ...payment(7), block: FIRST_BLOCK - 1 }] }, false],
      "the last that a log keeps of its transaction": [{ receipt: { logIndex: 99 }, transfers: alike }, true],
      "more than a log keeps of its transaction": [{ receipt: { logIndex: 100 }, transfers: alike }, false],
      "without the buyer's word": [
        { receipt: { buyerSigned: false }, transfers: [{ ...payment(7), authorized: false }] },
        false,
      ],
    };
    for (const [what, [it, isLost]] of Object.entries(cases)) expect(await lacks(it), what).to.equal(isLost);
  });

  it("cost one question to the chain for each transaction, however many receipts name it", async () => {
    const receipts = Array.from({ length: 100 }, (_, n) => ({ ...receiptOf(1), id: `receipt ${n}` }));
    const { chain, asked } = chainOf({});
    const found = new Findings();
    await checkPayments(logOf(receipts), chain, found);
    expect(asked).to.have.length(1);
    expect(found.all).to.have.length(1);
    expect(found.all[0]).to.deep.include({ holds: true });
  });

  it("are unknown above the limit, and that is no fault of the node", async () => {
    const { chain, asked } = chainOf({});
    const found = new Findings();
    await checkPayments(logOf([1, 2, 3].map((n) => receiptOf(n))), chain, found, { most: 2 });
    expect(asked).to.have.length(2);
    expect(found.all.map(({ holds }) => holds)).to.deep.equal([true]);
    expect(found.unchecked).to.have.length(1);
    expect(found.unchecked[0]).to.match(/^1 more receipts have no payment/);
  });

  const away = () =>
    new TallystickError({
      code: "chain_unavailable",
      message: "The chain could not be asked: too many requests",
    });

  it("are unknown where the chain does not answer, and the other receipts are looked up", async () => {
    const receipts = Array.from({ length: 40 }, (_, n) => receiptOf(n));
    const [bad, lost] = [receipts[3]?.txHash, receipts[33]?.txHash ?? ""];
    // Many receipts that name the same transaction are one failure.
    for (let n = 4; n < 30; n++) receipts[n] = receiptOf(n, { txHash: bad as string });
    const { chain } = chainOf({ [lost]: [payment(7)] });
    const { transfers } = chain;
    chain.transfers = async (tx, ...more) => {
      if (tx === bad) throw away();
      return transfers(tx, ...more);
    };
    const found = new Findings();
    await checkPayments(logOf(receipts), chain, found);
    expect(found.all.map(({ holds }) => holds)).to.deep.equal([false]);
    expect(found.unchecked).to.have.length(1);
    expect(found.unchecked[0]).to.match(/^27 more receipts have no payment.* too many requests$/);
  });

  it("are not looked for any more after a few look-ups that failed, after a time, and after the signal", async () => {
    const receipts = Array.from({ length: 100 }, (_, n) => receiptOf(n + 1));
    let asked = 0;
    const refuse = async () => {
      asked++;
      throw away();
    };
    const found = new Findings();
    await checkPayments(logOf(receipts), { ...chainOf({}).chain, transfers: refuse }, found);
    expect(asked).to.be.within(16, 32);
    expect(found.all).to.deep.equal([]);
    expect(found.unchecked[0]).to.match(/^100 more receipts/);

    const { chain, asked: inTime } = chainOf({});
    const slow: AuditChain["transfers"] = async (...given) => {
      await sleep(30);
      return chain.transfers(...given);
    };
    const late = new Findings();
    await checkPayments(logOf(receipts), { ...chain, transfers: slow }, late, { withinMs: 10 });
    expect(inTime).to.have.length(16);
    expect(late.all[0]?.what).to.match(/^16 receipts/);
    expect(late.unchecked[0]).to.match(/^84 more receipts/);

    const signal = AbortSignal.abort(new Error("enough"));
    const stopped = checkPayments(logOf(receipts), chain, new Findings(), { signal });
    expect(await stopped.catch((error: Error) => error.message)).to.equal("enough");
  });

  it("are not looked for where a hire cannot be audited, or where the log has the deposit", async () => {
    const left = [
      receiptOf(1, { amount: 999n }),
      receiptOf(2, { paramsHash: null }),
      receiptOf(3, { status: "counted" }),
      receiptOf(4, { agent: BUYER }),
      receiptOf(5, { resultHash: null }),
      receiptOf(6, { escrowId: "0x88" }),
    ];
    const { chain, asked } = chainOf({});
    const log = logOf(left);
    log.store.put("escrow", { id: "0x88" } as Row<"escrow">);
    await checkPayments(log, chain, new Findings());
    expect(asked).to.deep.equal([]);
  });
});
