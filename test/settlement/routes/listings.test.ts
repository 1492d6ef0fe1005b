import { expect } from "chai";
import { taxonomy } from "tallystick-capabilities/taxonomy";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { envelope, flat, listingBody, receiptBody } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "../support/testService.ts";

/** An id of every pattern of every family: placeholders stand for the first value they may have. */
const standardIds = taxonomy.flatMap(({ patterns, values }) =>
  patterns.map((pattern) =>
    pattern.replace(/\{(\w+)\}/g, (_, name: string) => Object(values)[name]?.[0] ?? "acme-small"),
  ),
);

describe("POST /v1/listings and the taxonomy of capabilities", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path);
  });
  afterEach(() => service.close());

  const publish = async (changes: RecordBody) =>
    service.post("/v1/listings", await envelope(listingBody(changes)));
  const refused = async (changes: RecordBody, code: string, field: string) => {
    const size = service.ledger.size;
    const answer = await publish(changes);
    expect([answer.status, answer.json.code], answer.text).to.deep.equal([400, code]);
    expect(answer.json.errors[0].field).to.equal(field);
    expect(service.ledger.size).to.equal(size);
    return answer.json;
  };

  it("accept an id of every standard family", async () => {
    expect(taxonomy).to.have.length(23);
    for (const capability of standardIds) {
      expect((await publish({ capability })).status, capability).to.equal(201);
    }
    expect(service.ledger.size).to.equal(standardIds.length);
  });

  it("accept every id that begins with custom.", async () => {
    for (const capability of ["custom.acme.ocr", "custom.text.translate", "custom.x"]) {
      expect((await publish({ capability })).status, capability).to.equal(201);
    }
  });

  it("refuse any other id, list the known ones, and write nothing", async () => {
    const unknown = [
      "text.translate",
      "text.translate.en",
      "text.summarize.tiny",
      "code.generate.python.script",
      "weather.forecast",
      "customs.acme.ocr",
      "compute.statistics",
    ];
    for (const capability of unknown) {
      const { hint, detail } = await refused({ capability }, "unknown_capability", "body.capability");
      expect(detail, capability).to.contain("body.capability").and.to.contain("is no standard capability");
      expect(hint, capability).to.contain("custom.");
    }
    const near = await refused({ capability: "text.sing.it" }, "unknown_capability", "body.capability");
    expect(near.hint).to.contain("text.translate.{source}.{target}").and.not.to.contain("compute.");
    const far = await refused({ capability: "weather.forecast" }, "unknown_capability", "body.capability");
    expect(far.hint).to.contain("data.lookup.weather").and.to.contain("compute.math.numeric");
    const language = await refused(
      { capability: "text.translate.en.xx" },
      "unknown_capability",
      "body.capability",
    );
    expect(language.detail).to.contain("has no target xx");
    expect(language.hint).to.match(/\{target\} is ar, bg, .*zh; other ids begin with custom\./);
  });

  it("name the field also for a flat body, with the code and the hint", async () => {
    const answer = await service.post(
      "/v1/listings",
      await flat(listingBody({ capability: "text.sing.it" })),
    );
    expect([answer.status, answer.json.code]).to.deep.equal([400, "unknown_capability"]);
    expect(answer.json.errors[0].field).to.equal("capability");
    expect(answer.json.hint).to.contain("text.translate.{source}.{target}");
  });

  it("name all other faults too", async () => {
    const body = {
      capability: "text.sing.it",
      clarification_supported: true,
      endpoint: "http://seller.example",
    };
    const { errors } = await refused(body, "unknown_capability", "body.capability");
    expect(errors.map(({ field }: { field: string }) => field)).to.deep.equal([
      "body.capability",
      "body.clarification_supported",
      "body.endpoint",
    ]);
  });

  it("read an id exactly: capitals make it another id", async () => {
    for (const capability of [
      "Text.translate.en.it",
      "text.translate.EN.it",
      "CUSTOM.acme.ocr",
      "Custom.x",
    ]) {
      await refused({ capability }, "invalid_input", "body.capability");
    }
  });

  it("let an offer with an unknown id be retired, and not restored", async () => {
    const capability = "text.sing.it";
    const retired = await publish({ capability, retired: true, issued_at: NOW });
    expect(retired.status, retired.text).to.equal(201);
    await refused({ capability, issued_at: NOW }, "unknown_capability", "body.capability");
  });

  it("accept a receipt with an unknown id, because its payment is a fact", async () => {
    const receipt = await service.post(
      "/v1/receipts",
      await envelope(receiptBody({ capability: "text.sing.it" })),
    );
    expect(receipt.status, receipt.text).to.equal(201);
  });

  it("accept an old verification version for 90 days after the next version", async () => {
    const { versions } = taxonomy[0];
    const bump = versions[1]?.publishedAt ?? 0;
    service.clock.now = bump + 90 * 86_400;
    for (const verification_version of ["v0", "v1"]) {
      expect((await publish({ verification_version })).status, verification_version).to.equal(201);
    }
    service.clock.now++;
    const late = { verification_version: "v0", price_usdc: "0.45" };
    const old = await refused(late, "invalid_input", "body.verification_version");
    expect(old.detail).to.contain("90 days").and.to.contain("it is v1 now");
    expect((await publish({ verification_version: "v1", price_usdc: "0.40" })).status).to.equal(201);
    // A listing need not name a version. In searches a listing without a version counts as one of the oldest version.
    expect((await publish({ price_usdc: "0.30" })).status).to.equal(201);
    const down = { verification_version: "v0", retired: true };
    expect((await publish(down)).status).to.equal(201);
  });

  it("refuse unknown versions, but accept any for custom capabilities", async () => {
    for (const verification_version of ["v9", "1", "latest"]) {
      await refused({ verification_version }, "invalid_input", "body.verification_version");
    }
    const custom = { capability: "custom.acme.ocr", verification_version: "2026-11" };
    expect((await publish(custom)).status).to.equal(201);
  });
});
