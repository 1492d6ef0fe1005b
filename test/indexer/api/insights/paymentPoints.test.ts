import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "chai";
import { ClientBudgets } from "tallystick-runtime/http/clientBudgets";
import { limitClients } from "tallystick-runtime/http/limitClients";
import { clientLimits } from "../../../../indexer/api/clientLimits.ts";
import { countPoints } from "../../../../tools/bench/api/costs/countPoints.ts";
import { facilitatorWith, payingFetch, sellInsights } from "../../support/paidInsights.ts";

describe("the points of insights with a price", () => {
  let server: Server;
  let url: string;
  let points: () => number;
  const facilitator = facilitatorWith({
    verify: async () => {
      throw new Error("not one of ours");
    },
  });
  const app = sellInsights(facilitator);

  before(async () => {
    const budgets = new ClientBudgets(
      { pointsPerSecond: 1e9, burst: 1e9, atOnce: 2, waiting: 9, streams: 1, statements: 1 },
      () => 0,
    );
    points = countPoints(budgets);
    server = createAdaptorServer({ fetch: app.fetch }) as Server;
    const { priceOf } = clientLimits({ trustedProxies: 0, clientLimits: { points: 1, streams: 1 } });
    limitClients(server, { budgets, trustedProxies: 0, ...(priceOf && { priceOf }) });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/insights/capabilities`;
  });
  after(() => server?.close());

  /** The status of a request, and the points that it cost. */
  async function ask(headers: { [name: string]: string } = {}) {
    const before = points();
    const answer = await fetch(url, { headers: { ...headers, connection: "close" } });
    await answer.text();
    return { status: answer.status, paid: points() - before };
  }

  it("pay for the questions to the facilitator and the chain, also if the payment is worth nothing", async () => {
    let payment = "";
    await payingFetch(app, async ({ headers }) => {
      payment = headers.get("payment-signature") ?? "";
    })("http://node.example/v1/insights/capabilities");
    expect(payment).to.not.equal("");
    facilitator.asked.length = 0;
    const free = await ask();
    expect(free.status).to.equal(402);
    expect(facilitator.asked).to.deep.equal([]);
    const worthless = await ask({ "payment-signature": payment });
    expect(worthless.status).to.equal(402);
    expect(facilitator.asked).to.deep.equal(["verify"]);
    expect(worthless.paid - free.paid).to.be.closeTo(20, 1);
  });
});
