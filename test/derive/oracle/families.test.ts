import { expect } from "chai";
import fc from "fast-check";
import type { EventLog } from "../eventLog.ts";
import { expectSame } from "../relevant/agreement.ts";
import { derivedState } from "./derivedState.ts";
import { familyLog } from "./familyLog.ts";
import { oracle } from "./oracle.ts";

/** How many logs are generated. By default every run has the same logs. With FAMILY_RUNS it is that many random logs. */
const asked = process.env.FAMILY_RUNS;
const RUNS = asked === undefined ? { numRuns: 150, seed: 1 } : { numRuns: Number(asked) };

describe("funding families and the oracle", () => {
  const reached = new Map<string, number>();
  const reach = (what: string, is: boolean) => reached.set(what, (reached.get(what) ?? 0) + Number(is));

  it("agree on every field, for any log of wallets that fund, pay and give back", async () => {
    const agree = async (log: EventLog) => {
      const { store, ...snapshot } = await log.derive();
      expect(derivedState(snapshot, store)).to.deep.equal(oracle(log.events));
      for (const it of Object.values(snapshot.agents)) {
        reach("two independent buyers", it.independent_buyers >= 2);
        reach("an established buyer", it.established_buyers > 0);
        reach("money that stayed", Number(it.kept_usdc) > 0);
        reach("fees", Number(it.fees_paid_usdc) > 0);
        reach("payments without a receipt", it.unreceipted_payments > 0);
        reach("unanswered escrows", it.unanswered_escrows > 0);
        reach("contested refunds", it.refunds_contested_families > 0);
      }
      const members = [...store.rows("familyMember").values()];
      for (const how of ["payout", "hub", "busy", "mint"])
        reach(
          how,
          members.some((it) => it.how === how),
        );
      reach(
        "deep",
        members.some((it) => it.family === "deep"),
      );
      reach(
        "sixteen steps",
        members.some((it) => it.depth === 16),
      );
      const hires = [...store.rows("hire").values()];
      reach("registered before it spent", store.rows("registeredMember").size > 0);
      reach(
        "money that came through the seller",
        hires.some((it) => it.buyerFamily !== store.rows("familyMember").get(it.buyer)?.family),
      );
      reach(
        "a part of a price",
        hires.some((it) => it.brought > 0n && it.brought < it.price),
      );
      const payments = [...store.rows("list").values()].filter(({ id }) => id.startsWith("paidInBlock/"));
      reach("money of the same block", payments.length > 0);
      reach(
        "money of the same block for several hires",
        payments.some(({ length }) => length > 1),
      );
      reach(
        "sixteen hires with it",
        payments.some(({ length }) => length === 16),
      );
      const escrows = [...store.rows("escrow").values()];
      reach(
        "an escrow settled in the block of its deposit",
        escrows.some(({ arrived, hire }) => (arrived ?? 0n) > 0n && hire !== null),
      );
      const brought = [...store.rows("brought").values()];
      reach(
        "money of a wallet before",
        brought.some(({ lender }) => lender !== null),
      );
      reach(
        "sixteen transfers looked at",
        brought.some(({ seen }) => seen >= 16),
      );
      const flows = [...store.rows("flow").values()];
      reach(
        "money that came back",
        flows.some(({ value }) => value > 0n),
      );
    };
    await fc.assert(fc.asyncProperty(familyLog, agree), RUNS);
    console.log(`      ${[...reached].map(([what, times]) => `${what} ${times}`).join(", ")}`);
    for (const [what, times] of reached) expect(times, what).to.be.greaterThan(0);
  }).timeout(0);

  it("agree in both forms of a log, row by row", async () => {
    await fc.assert(fc.asyncProperty(familyLog, expectSame), {
      ...RUNS,
      numRuns: Math.ceil(RUNS.numRuns / 5),
    });
  }).timeout(0);
});
