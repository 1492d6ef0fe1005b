import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { base } from "tallystick-sdk/chain/paymentNetwork";
import { createSeller, type Seller } from "tallystick-sdk/createSeller";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";
import { suiteFolder } from "../support/suiteFolder.ts";
import { FIRST_SLOT, listingAt, openTestProber } from "./support/openTestProber.ts";

const CUSTOM = "custom.maps.draw";

describe("a prober that asks a seller of the SDK", () => {
  const folder = suiteFolder();
  let server: Server;
  let seller: Seller;
  let store: KeyValueStore;
  let asked: { path: string; status: number }[];
  let worked: number;

  before(async () => {
    store = memoryStore();
    asked = [];
    worked = 0;
    const work = async () => {
      worked++;
      return { result: 2 };
    };
    const mean = "compute.statistics.mean";
    const common = { price_usdc: "0.05", max_latency_ms: 10_000 };
    seller = await createSeller({
      account: privateKeyToAccount(`0x${"21".repeat(32)}`),
      endpoint: "https://seller.example",
      baseUrl: "http://node.test",
      network: base,
      facilitator: "http://facilitator.test",
      store,
      listings: [
        { capability: mean, ...common, first_call_free: true },
        { capability: CUSTOM, ...common },
      ],
      handlers: { [mean]: work as never, [CUSTOM]: work as never },
      schemas: {
        [CUSTOM]: {
          input: {
            type: "object",
            properties: { city: { type: "string", minLength: 3 } },
            required: ["city"],
            additionalProperties: false,
          },
          output: {},
        },
      },
    });
    const fetch = async (request: Request): Promise<Response> => {
      const response = await seller.app.fetch(request);
      asked.push({ path: new URL(request.url).pathname, status: response.status });
      return response;
    };
    server = serve({ fetch, hostname: "127.6.0.1", port: 0 }) as Server;
    await new Promise((resolve) => server.once("listening", resolve));
  });

  after(async () => {
    server.close();
    await seller.close();
  });

  it("gets the seller's terms for standard and custom capabilities, and the seller stores nothing and does no work", async () => {
    const { port } = server.address() as AddressInfo;
    for (const capability of ["compute.statistics.mean", CUSTOM]) {
      asked.length = 0;
      const listing = listingAt(`127.6.0.1:${port}`, seller.address, { capability });
      const prober = await openTestProber(`${folder.path}/${capability}`, [listing]);
      for (let slot = 0; slot < 3; slot++) await prober.passSlot(FIRST_SLOT + slot);
      expect(asked.filter(({ path }) => path === "/hire").map(({ status }) => status)).to.deep.equal([
        402, 402, 402,
      ]);
      await prober.reportAt(FIRST_SLOT + 12);
      const [body] = prober.sent;
      expect(body?.hosts).to.deep.equal({ [`127.6.0.1:${port}`]: [0b110, 0] });
      expect(body?.served).to.deep.equal({ [seller.address]: [`127.6.0.1:${port}`] });
      await prober.prober.close();
    }
    expect(worked).to.equal(0);
    for (const kind of ["seen", "free", "job", "payment"])
      expect(await store.keys(kind), kind).to.deep.equal([]);
  });
});
