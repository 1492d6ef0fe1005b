import { expect } from "chai";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { entryType, recordEvent } from "../../../indexer/src/segments/recordEvent.ts";
import { newWallet } from "../support/localChain.ts";
import { TestLedger } from "../support/testLedger.ts";

const place = { block: 7, time: 1_767_225_600, log: 3, ledger: `0x${"ab".repeat(32)}`, seq: 0 } as const;
const signature = `0x${"00".repeat(65)}`;
const signer = `0x${"11".repeat(20)}`;

function eventOf(payload: { [key: string]: PyJson }) {
  return recordEvent(new TestLedger().append(payload), place);
}

describe("recordEvent", () => {
  it("gives a record in the form of the event log, with sorted keys", async () => {
    const wallet = newWallet();
    const entry = await new TestLedger().sign(wallet, "listing", { issued_at: 5, price_usdc: "0.50" });
    const event = recordEvent(entry, place);
    expect(JSON.stringify(event)).to.equal(
      `{"block":7,"time":1767225600,"log":3,"kind":"record","ledger":"${place.ledger}","seq":0,"hash":"${entry.currentHash}",` +
        `"type":"listing","body":{"issued_at":5,"price_usdc":"0.50"},"signer":"${wallet.address}","signature":"${event?.signature}"}`,
    );
  });

  it("leaves out generic work", () => {
    const payload = { type: "settlement", data_update: {}, confidence_score: 0.9 };
    expect(eventOf(payload)).to.equal(null);
    expect(entryType(new TestLedger().append(payload))).to.equal("settlement");
  });

  const bad: [name: string, payload: { [key: string]: PyJson }, reason: string][] = [
    [
      "a float in the body",
      { type: "receipt", body: { n: 1.5 }, signer, signature },
      "body.n must not be a float",
    ],
    [
      "a whole float",
      { type: "receipt", body: { n: [1] }, signer, signature },
      "body.n.0 must not be a float",
    ],
    ["an integer beyond 2^53", { type: "receipt", body: { n: 2n ** 53n }, signer, signature }, "body.n"],
    ["no body", { type: "receipt", signer, signature }, "body must be an object"],
    ["no signer", { type: "receipt", body: {}, signature }, "signer"],
    ["no type", { body: {}, signer, signature }, "type"],
    ["a type that is not a name", { type: "a\u0000b", body: {}, signer, signature }, "type"],
    ["nothing of a record", { hello: "world" }, "type"],
  ];
  for (const [name, payload, reason] of bad) {
    it(`keeps an entry with ${name} as an error`, () => {
      const event = eventOf(payload);
      expect(event?.error?.replace(":", "")).to.contain(reason);
      expect(event).to.deep.include({ body: {}, signature: "0x", kind: "record", seq: 0 });
    });
  }

  it("gives errors that have only printable ASCII characters, so that a text column can store them", () => {
    const event = eventOf({ type: "receipt", body: { "\u0000\ud800é": 1.5 }, signer, signature });
    expect(event?.error).to.match(/^[\x20-\x7e]+$/);
  });
});
