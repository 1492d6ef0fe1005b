import { expect } from "chai";
import type { InvalidInputError } from "tallystick-protocol/errors";
import type { SignedRecord } from "tallystick-protocol/records/record";
import { requirePublicEndpoint } from "../../../services/settlement/engine/requirePublicEndpoint.ts";
import { listingBody, seller } from "../support/records.ts";

describe("the check where a listing's name leads", () => {
  const listing = (changes = {}) =>
    ({
      ...{ type: "listing", body: listingBody(changes), signature: "0x" },
      signer: seller.address.toLowerCase(),
    }) as SignedRecord;
  const asked = async (record: SignedRecord, addresses: string[] = ["127.0.0.1"]) => {
    const names: string[] = [];
    const code = await requirePublicEndpoint(record, async (name) => {
      names.push(name);
      return addresses;
    }).then(
      () => "accepted",
      (error) => (error as InvalidInputError).message,
    );
    return [code, ...names];
  };
  const refused = "body.endpoint: must not lead to a loopback, private or link-local address";

  it("refuses a name if one of its addresses is not public, and accepts a name without an address", async () => {
    const name = "seller.example";
    expect(await asked(listing())).to.deep.equal([refused, name]);
    expect(await asked(listing(), ["8.8.8.8", "10.0.0.1"])).to.deep.equal([refused, name]);
    expect(await asked(listing(), ["8.8.8.8", "1.1.1.1"])).to.deep.equal(["accepted", name]);
    expect(await asked(listing(), [])).to.deep.equal(["accepted", name]);
  });

  it("asks nothing about other records, about offers that end, and about addresses", async () => {
    const receipt = { type: "receipt", body: {}, signer: "0x", signature: "0x" } as SignedRecord;
    for (const record of [
      receipt,
      listing({ retired: true }),
      listing({ endpoint: "https://8.8.8.8/" }),
      listing({ endpoint: "https://[2606:4700::1111]/" }),
    ])
      expect(await asked(record)).to.deep.equal(["accepted"]);
  });

  it("accepts a name if the name server fails, or gives no answer within three seconds", async () => {
    await requirePublicEndpoint(listing(), () => Promise.reject(new Error("SERVFAIL")));
    const real = globalThis.setTimeout;
    const waits: number[] = [];
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      waits.push(ms);
      return real(run, 0);
    }) as never;
    try {
      await requirePublicEndpoint(listing(), () => new Promise(() => {}));
    } finally {
      globalThis.setTimeout = real;
    }
    expect(waits).to.deep.equal([3_000]);
  });
});
