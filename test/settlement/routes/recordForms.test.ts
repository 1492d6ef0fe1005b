import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseEntryLine } from "tallystick-protocol/ledger/entry";
import { readVectors } from "../../vectors/vectors.ts";
import { expectProblem, ledgerText } from "../support/expectProblem.ts";
import { buyer, envelope, flat, listingBody, receiptBody } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "../support/testService.ts";

describe("POST /v1/listings and /v1/receipts", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path);
  });
  afterEach(() => service.close());

  it("accept the requests of existing Swarmwage SDKs unchanged", async () => {
    const { records } = readVectors<{ records: { body: RecordBody; signature: string }[] }>("records.json");
    service.clock.now = Date.UTC(2026, 0, 31, 12, 1) / 1000;
    const [listing, receipt] = records;
    const first = await service.post("/v1/listings", { ...listing!.body, signature: listing!.signature });
    const second = await service.post("/v1/receipts", { ...receipt!.body, signature: receipt!.signature });
    expect([first.status, second.status], second.text).to.deep.equal([201, 201]);
    const lines = ledgerText(service).trimEnd().split("\n").map(parseEntryLine);
    expect(lines.map(({ payload }) => payload.signature)).to.deep.equal([
      listing!.signature,
      receipt!.signature,
    ]);
    expect(lines[1]!.payload.body).to.deep.equal(receipt!.body);
  });

  it("answer a repeated record with 200 and the same entry, in either form", async () => {
    const first = await service.post("/v1/receipts", await envelope(receiptBody()));
    const again = await service.post("/v1/receipts", await flat(receiptBody()));
    expect([first.status, again.status]).to.deep.equal([201, 200]);
    expect(again.json).to.deep.equal(first.json);
    expect(first.json).to.include({ type: "receipt", status: "SETTLED", index: 0, timestamp: NOW });
    expect(service.ledger.size).to.equal(1);
  });

  it("name the field as it is in the form that was sent", async () => {
    const bad = listingBody({ capability: "Translate!", price_usdc: "0.1234567" });
    expectProblem(service, await service.post("/v1/listings", await envelope(bad)), 400, "invalid_input", [
      "body.capability",
      "body.price_usdc",
    ]);
    expectProblem(service, await service.post("/v1/listings", await flat(bad)), 400, "invalid_input", [
      "capability",
      "price_usdc",
    ]);
    const plain = listingBody({ endpoint: "http://seller.example" });
    expectProblem(service, await service.post("/v1/listings", await flat(plain)), 400, "invalid_input", [
      "endpoint",
    ]);
  });

  for (const capability of [
    "",
    "a",
    "translate",
    "Text.translate",
    "text..en",
    "text.en.",
    "text translate.en",
    "\u0456mage.generate",
  ]) {
    it(`answer 400 to the capability ${JSON.stringify(capability)}`, async () => {
      const listing = await service.post("/v1/listings", await envelope(listingBody({ capability })));
      expectProblem(service, listing, 400, "invalid_input");
      expect(listing.json.errors[0].field).to.equal("body.capability");
      const receipt = await service.post("/v1/receipts", await envelope(receiptBody({ capability })));
      expectProblem(service, receipt, 400, "invalid_input");
      expect(receipt.json.errors[0].field).to.equal("body.capability");
    });
  }

  it("answer 400 to bad signatures, with the text that must be signed", async () => {
    for (const [route, body] of [
      ["/v1/listings", listingBody()],
      ["/v1/receipts", receiptBody()],
    ] as const) {
      const { signature } = await envelope(body);
      for (const bad of [undefined, "", "sig", 7, null, "0x123"]) {
        expectProblem(service, await service.post(route, { body, signature: bad }), 400, "invalid_input", [
          "signature",
        ]);
      }
      for (const bad of [
        "0x",
        "0x1234",
        `0x${"00".repeat(65)}`,
        `${signature.slice(0, -2)}1d`,
        `0x01${signature.slice(4)}`,
      ]) {
        const answer = await service.post(route, { body, signature: bad });
        expectProblem(service, answer, 400, "invalid_signature", ["signature"]);
        expect(answer.json.hint).to.match(/0x[0-9a-f]{64}/);
      }
      const tampered = { ...body, capability: "text.translate.en.fr" };
      expectProblem(
        service,
        await service.post(route, { ...tampered, signature }),
        400,
        "invalid_signature",
        ["signature"],
      );
    }
  });

  it("answer 400 to unsigned fields in the envelope, and to a signer that is not the agent", async () => {
    const good = await envelope(listingBody());
    expectProblem(service, await service.post("/v1/listings", { ...good, note: "x" }), 400, "invalid_input", [
      "note",
    ]);
    expectProblem(
      service,
      await service.post("/v1/listings", { ...good, type: "receipt" }),
      400,
      "invalid_input",
      ["type"],
    );
    expectProblem(
      service,
      await service.post("/v1/listings", { ...good, signer: "me" }),
      400,
      "invalid_input",
      ["signer"],
    );
    const other = buyer.address.toLowerCase();
    expectProblem(
      service,
      await service.post("/v1/listings", { ...good, signer: other }),
      400,
      "invalid_input",
      ["signer"],
    );
  });

  it("answer 400 to floats and other values that cannot be signed", async () => {
    const { signature } = await envelope(listingBody());
    const withFloat = { body: { ...listingBody(), latitude: 47.5 }, signature };
    expectProblem(service, await service.post("/v1/listings", withFloat), 400, "invalid_input", [
      "body.latitude",
    ]);
    const surrogate = JSON.stringify({ body: listingBody(), signature }).replace('"text.', '"\\ud800text.');
    expectProblem(service, await service.post("/v1/listings", surrogate), 400, "invalid_input", [
      "body.capability",
    ]);
  });

  it("accept http and private endpoints only in development", async () => {
    const local = await envelope(listingBody({ endpoint: "http://127.0.0.1:4000/hire" }));
    expectProblem(service, await service.post("/v1/listings", local), 400, "invalid_input", [
      "body.endpoint",
    ]);
    await service.close();
    service = await openTestService(folder.path, { DEV_MODE: "1" });
    expect((await service.post("/v1/listings", local)).status).to.equal(201);
  });
});
