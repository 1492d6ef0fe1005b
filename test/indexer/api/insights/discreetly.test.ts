import { type FacilitatorClient, FacilitatorResponseError } from "@x402/core/server";
import { expect } from "chai";
import { Hono } from "hono";
import { insightsPaywall } from "../../../../indexer/api/insights/paywall.ts";
import { wallet } from "../../../derive/eventLog.ts";
import { facilitatorWith, payingFetch, paymentsInMemory } from "../../support/paidInsights.ts";

const SAID = "https://facilitator.example/key-123";

describe("a client that pays for insights", () => {
  /** What a client is told, with its headers, if the facilitator answers so. */
  const toldWith = async (changes: Partial<FacilitatorClient>) => {
    const paywall = insightsPaywall({
      ...{ amount: 10_000n, payTo: wallet(1), chainId: 31_337, store: paymentsInMemory() },
      token: { address: wallet(0x70), name: "USDC", version: "2" },
      facilitator: { ...facilitatorWith({}), ...changes },
    });
    const app = new Hono().get("/v1/insights/:what", paywall, (context) => context.json({ series: [] }));
    const answer = await payingFetch(app)("http://node.example/v1/insights/trends");
    const headers = ["payment-required", "payment-response"].map((name) =>
      Buffer.from(answer.headers.get(name) ?? "", "base64").toString(),
    );
    return { status: answer.status, text: [await answer.text(), ...headers].join(" ") };
  };
  const refusedFor = (errorReason: string, errorMessage: string): FacilitatorClient["settle"] => {
    return async (_, { network }) => ({
      ...{ success: false, transaction: "", network, errorReason, errorMessage },
    });
  };

  it("is told the reasons of x402, and nothing else that the facilitator says", async () => {
    const cases: [status: number, reason: string, changes: Partial<FacilitatorClient>][] = [
      [402, "did not verify the payment", { verify: () => Promise.reject(new Error(SAID)) }],
      [
        502,
        "did not verify the payment",
        { verify: () => Promise.reject(new FacilitatorResponseError(SAID)) },
      ],
      [
        502,
        "did not say what it supports",
        { getSupported: () => Promise.reject(new FacilitatorResponseError(SAID)) },
      ],
      [402, "invalid_payment", { verify: async () => ({ isValid: false, invalidReason: SAID }) }],
      [
        402,
        "insufficient_funds",
        {
          verify: async () => ({ isValid: false, invalidReason: "insufficient_funds", invalidMessage: SAID }),
        },
      ],
      [402, "settlement_failed", { settle: refusedFor(`${SAID} invalid signature`, SAID) }],
      [402, "insufficient_funds", { settle: refusedFor("insufficient_funds", SAID) }],
    ];
    for (const [status, reason, changes] of cases) {
      const told = await toldWith(changes);
      expect(told.status, told.text).to.equal(status);
      expect(told.text).to.contain(reason).and.not.to.contain("key-123");
    }
    expect(await toldWith({})).to.include({ status: 200 });
  });
});
