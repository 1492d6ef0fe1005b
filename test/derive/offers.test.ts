import { expect } from "chai";
import fc from "fast-check";
import { EventLog, wallet } from "./eventLog.ts";

const CAPABILITIES = ["text.translate", "code.review"];

/** A listing of one of four agents, or its end. An agent's new listing of a capability replaces the earlier one. */
const steps = fc.array(
  fc.record({
    agent: fc.integer({ min: 1, max: 4 }),
    capability: fc.constantFrom(...CAPABILITIES),
    cents: fc.integer({ min: 0, max: 5 }),
    retired: fc.boolean(),
  }),
  { minLength: 1, maxLength: 20 },
);

describe("what is offered in a capability", () => {
  it("counts the live listings and their agents, and has the lowest price and the median, after any listings", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const log = new EventLog();
        /** capability → agent → price in atomic units */
        const live = new Map(CAPABILITIES.map((capability) => [capability, new Map<number, bigint>()]));
        for (const [n, { agent, capability, cents, retired }] of all.entries()) {
          // A listing that is equal to an earlier one changes nothing, so each has another latency.
          const body = { price_usdc: `0.0${cents}`, max_latency_ms: 1_000 + n, retired };
          log.after(1).listing(wallet(agent), capability, body);
          if (retired) live.get(capability)?.delete(agent);
          else live.get(capability)?.set(agent, BigInt(cents) * 10_000n);
        }
        const { store } = await log.derive();
        for (const [capability, prices] of live) {
          const inOrder = [...prices.values()].sort((a, b) => Number(a - b));
          const [size, half] = [inOrder.length, Math.floor(inOrder.length / 2)];
          const [low = 0n, high = 0n] = [inOrder[size % 2 === 1 ? half : half - 1], inOrder[half]];
          const row = store.get("offer", capability);
          if (size === 0 && row === null) continue;
          expect(row, capability).to.deep.equal({
            id: capability,
            listings: size,
            sellers: size,
            lowestPrice: inOrder[0] ?? null,
            medianPrice: size === 0 ? null : (low + high + 1n) / 2n,
          });
        }
      }),
      { numRuns: 60 },
    );
  });

  it("counts a seller once that offers a capability in several payment modes, until it offers the last one no more", async () => {
    const log = new EventLog();
    const offer = async (payment_mode: string, price_usdc: string, retired = false) => {
      const body = { payment_mode, price_usdc, retired, max_latency_ms: 1_000 + log.block };
      log.after(1).listing(wallet(1), "code.review", body);
      const row = (await log.derive()).store.get("offer", "code.review");
      return [row?.listings, row?.sellers, row?.lowestPrice, row?.medianPrice];
    };
    const escrow = "custom_escrow:https://escrow.example";
    expect(await offer("direct", "3", true), "never offered").to.deep.equal(Array(4).fill(undefined));
    expect(await offer("direct", "3")).to.deep.equal([1, 1, 3_000_000n, 3_000_000n]);
    expect(await offer(escrow, "1.000001")).to.deep.equal([2, 1, 1_000_001n, 2_000_001n]);
    expect(await offer("direct", "3", true)).to.deep.equal([1, 1, 1_000_001n, 1_000_001n]);
    expect(await offer("direct", "2", true)).to.deep.equal([1, 1, 1_000_001n, 1_000_001n]);
    expect(await offer(escrow, "1", true)).to.deep.equal([0, 0, null, null]);
  });
});
