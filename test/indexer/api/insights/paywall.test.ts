import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { expect } from "chai";
import { Hono } from "hono";
import { insightsPaywall } from "../../../../indexer/api/insights/paywall.ts";
import { newWallet, type SdkChain, startSdkChain } from "../../../sdk/support/sdkChain.ts";
import { paymentsInMemory } from "../../support/paidInsights.ts";

describe("insights with a price", () => {
  let chain: SdkChain;
  const [reader, operator] = [newWallet(), newWallet()];
  let served = 0;

  before(async () => {
    chain = await startSdkChain();
    await chain.mint(reader, 1_000_000n);
  });

  function app(): Hono {
    const { name, version } = chain.network;
    return new Hono()
      .use(
        "/v1/insights/*",
        insightsPaywall({
          amount: 10_000n,
          payTo: operator.address,
          chainId: 31_337,
          token: { address: chain.token, name, version },
          facilitator: chain.facilitator,
          store: paymentsInMemory(),
        }),
      )
      .get("/v1/insights/:what", (context) => {
        if (context.req.param("what") === "missing") return context.json({ code: "unknown_agent" }, 404);
        served++;
        return context.json({ series: [] });
      })
      .get("/v1/free", (context) => context.json({ free: true }));
  }

  it("are paid by x402 to the operator, and cost nothing if the answer is an error", async () => {
    const served402 = await app().request("/v1/insights/trends");
    expect(served402.status).to.equal(402);
    expect(served402.headers.get("payment-required")).to.be.a("string");
    expect(served).to.equal(0);

    const client = x402Client.fromConfig({
      schemes: [{ network: "eip155:31337", client: new ExactEvmScheme(reader.account) }],
      spendControls: { allowedAssets: true },
    });
    const node = app();
    const fetchPaid = wrapFetchWithPayment(
      (input, init) => Promise.resolve(node.request(new Request(input, init))),
      client,
    );
    const paid = await fetchPaid("http://node.example/v1/insights/trends");
    expect(paid.status, await paid.clone().text()).to.equal(200);
    expect(await paid.json()).to.deep.equal({ series: [] });
    expect(await chain.balanceOf(operator)).to.equal(10_000n);

    const missing = await fetchPaid("http://node.example/v1/insights/missing");
    expect(missing.status).to.equal(404);
    expect(await chain.balanceOf(operator)).to.equal(10_000n);
    expect(await chain.balanceOf(reader)).to.equal(990_000n);
  });

  it("leave the rest of the node free", async () => {
    expect((await app().request("/v1/free")).status).to.equal(200);
  });
});
