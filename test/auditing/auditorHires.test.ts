import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { AUDIT_CAPABILITY, auditHireSchemas } from "tallystick-sdk/audits/auditHire";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { createBuyer } from "tallystick-sdk/createBuyer";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { anyAnswer, createAuditorHires } from "../../services/auditing/auditorHires.ts";
import type { OpenAssignment } from "../../services/auditing/operatorNode.ts";
import { NODE, type OpenSeller } from "../sdk/support/market.ts";
import { newPurse, useMarket } from "../sdk/support/useMarket.ts";
import { endAtEveryWrite, type MortalProcess } from "../support/endAtEveryWrite.ts";

const FEE = 5_000n;
const FEES = [
  { from: 0n, fee: FEE },
  { from: 1_000_000n, fee: 20_000n },
];
const LIMIT = 100_000n;
const START = 1_700_000_000;
const DAY = 86_400;
const LATER_MS = 300_000;
const forever = new AbortController().signal;

describe("the hires of drawn auditors", () => {
  const world = useMarket();

  /** An auditor that asks for its fee when it gets an assignment, and counts its requests. */
  const openAuditor = async (price = "0.005") => {
    const told: unknown[] = [];
    const seller = await world.market.openSeller({
      listings: [{ capability: AUDIT_CAPABILITY, price_usdc: price, max_latency_ms: 20_000 }],
      schemas: auditHireSchemas,
      handlers: {
        [AUDIT_CAPABILITY]: (params) => {
          told.push(params.hire);
          return { taken: true };
        },
      },
    });
    return { seller, told };
  };
  const assignmentOf = ({ address, host }: OpenSeller, n = 1, amount = 500_000n): OpenAssignment => ({
    hire: `0x${n.toString(16).padStart(64, "0")}-3`,
    ...{ round: 1, attempt: 1, auditor: address, endpoint: `http://${host}/v1` },
    ...{ capability: "text.translate", amount, time: START, due: START + DAY },
  });

  type Pool = { store: KeyValueStore; wallet: Awaited<ReturnType<typeof newPurse>> };
  const openPool = async (): Promise<Pool> => ({ store: memoryStore(), wallet: await newPurse(world.chain) });
  const buyerOf = ({ store, wallet }: Pool, process?: MortalProcess, limit = LIMIT, ahead = 0) => {
    const kept = process ? process.store(store) : store;
    const fetch: typeof world.market.fetch = (...given) => world.market.fetch(...given);
    return createBuyer({
      account: wallet.account,
      baseUrl: NODE,
      network: world.chain.network,
      ledger: "local",
      client: world.chain.client as never,
      budget: storeBudget({ store: kept, name: "pool", limit }),
      journal: kept,
      devMode: true,
      fetch: process ? process.cut(fetch) : fetch,
      now: () => Date.now() + ahead,
      chainNow: Date.now,
    });
  };
  const hiresOf = (
    pool: Pool,
    {
      process,
      payBefore = true,
      limit = LIMIT,
    }: { process?: MortalProcess; payBefore?: boolean; limit?: bigint } = {},
  ) => {
    const store = process ? process.store(pool.store) : pool.store;
    const buyer = buyerOf(pool, process, limit);
    return createAuditorHires({ buyer, store, payBefore, atOnce: 2, log: () => {} });
  };
  const at = (time: number, accounts: { auditor: Address; accrued: bigint; paid: bigint }[] = []) => ({
    ...{ accounts, fees: FEES, time },
  });

  it("pay each auditor its fee once when it asks, by the hire's price, and send reminders without payment", async () => {
    const { seller, told } = await openAuditor();
    const dear = await openAuditor("0.02");
    const pool = await openPool();
    const hires = hiresOf(pool);
    const open = [assignmentOf(seller), assignmentOf(dear.seller, 2, 1_000_000n)];
    expect(await hires.round(open, at(START), forever)).to.deep.equal({ taken: 2, reminded: 0, failed: 0 });
    expect(await pool.wallet.paid()).to.equal(25_000n);
    for (const time of [START, START + DAY / 2 - 1]) await hires.round(open, at(time), forever);
    expect(told).to.have.length(1);
    // A reminder offers no money. An auditor that asks for money again gets none.
    await hires.round(open, at(START + DAY / 2), forever);
    await hires.round(open, at(START + DAY), forever);
    await hires.round(open, at(START + DAY), forever);
    expect(await pool.wallet.paid()).to.equal(25_000n);
    // Closed assignments are forgotten.
    await hires.round([], at(START + DAY), forever);
    expect(await pool.store.keys("asked")).to.deep.equal([]);
  });

  it("also go to an auditor that is suspended for another service, because it was drawn already", async () => {
    const { seller, told } = await openAuditor();
    const { hosts } = world.market;
    const node = hosts["node.test"] as (typeof hosts)[string];
    const suspended = () => Response.json({ sla_status: { suspended_until: 1_800_000_000 } });
    hosts["node.test"] = {
      request: (input, init) => (input.endsWith("/sla") ? suspended() : node.request(input, init)),
    };
    const round = hiresOf(await openPool()).round([assignmentOf(seller)], at(START), forever);
    expect((await round.finally(() => (hosts["node.test"] = node))).taken).to.equal(1);
    expect(told).to.have.length(1);
  });

  it("pay no second advance for a hire, and no advance to an auditor that has earned less than it was paid", async () => {
    const { seller } = await openAuditor();
    const pool = await openPool();
    const open = [1, 2, 3].map((n) => assignmentOf(seller, n));
    const first = await hiresOf(pool).round(open, at(START), forever);
    expect(first).to.deep.include({ taken: 1, failed: 2 });
    // The next process, which does not see the payment on the chain yet, does not pay either.
    await hiresOf(pool).round([...open, assignmentOf(seller, 4)], at(START + DAY / 2), forever);
    expect(await pool.wallet.paid()).to.equal(FEE);
    const fresh = await openAuditor();
    const accounts = [{ auditor: fresh.seller.address, accrued: 10_000n, paid: 10_001n }];
    await hiresOf(pool).round([assignmentOf(fresh.seller)], at(START, accounts), forever);
    expect(await pool.wallet.paid()).to.equal(FEE);
  });

  it("pay nothing if the operator pays after verdicts, if the auditor asks for more, or above the budget", async () => {
    const { seller, told } = await openAuditor();
    const greedy = await openAuditor("0.005001");
    const pool = await openPool();
    await hiresOf(pool, { payBefore: false }).round([assignmentOf(seller)], at(START), forever);
    await hiresOf(pool).round([assignmentOf(greedy.seller)], at(START), forever);
    const poor = await openPool();
    const refused = await hiresOf(poor, { limit: FEE - 1n }).round(
      [assignmentOf(seller)],
      at(START),
      forever,
    );
    expect(refused).to.deep.include({ taken: 0, failed: 1 });
    expect([await pool.wallet.paid(), await poor.wallet.paid()]).to.deep.equal([0n, 0n]);
    expect([...told, ...greedy.told]).to.deep.equal([]);
  });

  it("do not wait for an auditor that does not answer, and go on to the others", async () => {
    const { seller, told } = await openAuditor();
    const pool = await openPool();
    const away = {
      ...assignmentOf(seller, 7),
      auditor: `0x${"ab".repeat(20)}` as Address,
      endpoint: "http://away.test",
    };
    const done = await hiresOf(pool).round([away, assignmentOf(seller)], at(START), forever);
    expect(done).to.deep.equal({ taken: 1, reminded: 0, failed: 1 });
    expect(told).to.have.length(1);
  });

  it("pay an assignment at most once, even if the process ends at any write", async () => {
    let whole = 0;
    const writes = await endAtEveryWrite<Pool & { seller?: OpenSeller }>({
      open: openPool,
      run: async (pool, process) => {
        const { seller } = await openAuditor();
        pool.seller = seller;
        await hiresOf(pool, { process }).round([assignmentOf(seller)], at(START), forever);
      },
      resume: async (pool) => {
        if (pool.seller === undefined) return;
        await buyerOf(pool, undefined, LIMIT, LATER_MS).resume(anyAnswer);
        for (const time of [START, START + DAY / 2, START + DAY])
          await hiresOf(pool).round([assignmentOf(pool.seller)], at(time), forever);
      },
      check: async (pool, where) => {
        const paid = await pool.wallet.paid();
        expect(paid <= FEE, `${where}: ${paid}`).to.equal(true);
        if (paid === FEE) whole++;
      },
    });
    expect(writes).to.be.greaterThan(6);
    expect(whole).to.be.greaterThan(writes / 2);
  });
});
