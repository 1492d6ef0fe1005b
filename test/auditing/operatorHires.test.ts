import { expect } from "chai";
import { AUDIT_CAPABILITY, auditHireSchemas } from "tallystick-sdk/audits/auditHire";
import { openOperator } from "../../services/auditing/openOperator.ts";
import type { OpenAssignment } from "../../services/auditing/operatorNode.ts";
import { NODE } from "../sdk/support/market.ts";
import { newPurse, useMarket } from "../sdk/support/useMarket.ts";
import { fakeNode } from "./support/fakeNode.ts";

const FEE = 5_000n;
const START = 1_700_000_000;

describe("the hires of an operator's process", () => {
  const { chain, market } = useMarket();

  it("are paid from the pool's budget and not above it, and not before the verdict if its settings say so", async () => {
    const seller = await market.openSeller({
      listings: [{ capability: AUDIT_CAPABILITY, price_usdc: "0.005", max_latency_ms: 20_000 }],
      schemas: auditHireSchemas,
      handlers: { [AUDIT_CAPABILITY]: () => ({ taken: true }) },
    });
    const assignment: OpenAssignment = {
      ...{ hire: `0x${"1".repeat(64)}-1`, round: 1, attempt: 1, auditor: seller.address },
      ...{ endpoint: `http://${seller.host}/v1`, capability: "text.translate", amount: 500_000n },
      ...{ time: START, due: START + 86_400 },
    };
    for (const [n, { budget, payBefore, taken }] of [
      { budget: FEE - 1n, payBefore: true, taken: 0 },
      { budget: FEE, payBefore: true, taken: 1 },
      { budget: FEE, payBefore: false, taken: 0 },
    ].entries()) {
      const pool = await newPurse(chain);
      const operator = await openOperator({
        config: {
          ...{ nodeUrl: NODE, rpcUrl: "http://127.0.0.1:1", network: chain.network, escrows: [] },
          ...{ operatorKey: pool.privateKey, poolKey: pool.privateKey, host: "127.0.0.1", port: 0 },
          ...{ folder: `${market.folder}/operator-${n}`, roundMs: 60_000, least: 1_000n, budget },
          ...{ payBefore, confirmations: 1, devMode: true },
        },
        ...{ log: () => {}, now: Date.now, transport: chain.transport, fetch: market.fetch, ledger: "local" },
        node: fakeNode(pool.address, {
          status: async () => ({ time: START, isBlocked: false }),
          openAssignments: async () => [assignment],
        }),
      });
      await operator.round();
      expect(operator.state()).to.include({ taken, notTaken: 1 - taken, failures: 0 });
      expect(await pool.paid()).to.equal(taken === 1 ? FEE : 0n);
      expect(operator.state().budgetAtomic).to.equal(taken === 1 ? 0n : budget);
      await operator.close();
    }
  });
});
