import type { SettleResponse } from "@x402/core/types";
import { expect } from "chai";
import pg from "pg";
import { type Operations, openOperations } from "../../indexer/operations.ts";
import { testDatabase } from "../support/testDatabase.ts";

describe("the payments for insights that all processes on a database share", () => {
  let pool: pg.Pool;
  /** Two processes. */
  let operations: [Operations, Operations];
  before(async () => {
    const url = await testDatabase();
    pool = new pg.Pool({ connectionString: url });
    pool.on("error", () => {});
    operations = [openOperations(url, "main"), openOperations(url, "main")];
  });
  after(() => Promise.all([...(operations ?? []).map(({ close }) => close()), pool?.end()]));

  const first = { request: "a", wasUnused: true };
  const fresh = { ...first, attempts: 1, answers: 0 };
  const settled = (transaction: string): SettleResponse => ({
    ...{ success: true, transaction, network: "eip155:31337", payer: "0x01" },
  });

  it("keep their first request and their first settlement, and count the attempts of all", async () => {
    const [here, there] = operations.map(({ payments }) => payments);
    expect(await here?.begin("one", first)).to.deep.equal(fresh);
    const again = await there?.begin("one", { request: "b", wasUnused: false });
    expect(again).to.deep.equal({ ...fresh, attempts: 2 });
    await there?.settle("one", fresh, settled("0x01"));
    await here?.settle("one", fresh, settled("0x02"));
    expect(await here?.read("one")).to.deep.equal({ ...fresh, attempts: 2, settled: settled("0x01") });
  });

  it("are not forgotten after they were settled, or after another process began to settle them", async () => {
    const [{ payments }] = operations;
    await payments.begin("two", first);
    await payments.begin("two", first);
    await payments.forget("two", 1);
    expect(await payments.read("two")).to.deep.equal({ ...fresh, attempts: 2 });
    await payments.forget("two", 2);
    expect(await payments.read("two")).to.equal(undefined);
    await payments.begin("two", first);
    await payments.forget("two");
    expect(await payments.read("two")).to.equal(undefined);
    const kept = await payments.begin("two", first);
    await payments.settle("two", kept, settled("0x01"));
    await payments.forget("two", 1);
    await payments.forget("two");
    expect((await payments.read("two"))?.settled).to.deep.equal(settled("0x01"));
  });

  it("begin anew after an hour, also for another request", async () => {
    const [{ payments }] = operations;
    await payments.begin("three", first);
    await pool.query("UPDATE ops.insights_payments SET since = since - interval '1 hour'");
    expect(await payments.read("three")).to.equal(undefined);
    // A request that began before has five more minutes to settle the payment.
    expect(await payments.begin("three", first)).to.include({ attempts: 2 });
    await pool.query("UPDATE ops.insights_payments SET since = since - interval '5 minutes'");
    const other = { request: "b", wasUnused: false };
    expect(await payments.begin("three", other)).to.deep.equal({ ...other, attempts: 1, answers: 0 });
  });
});
