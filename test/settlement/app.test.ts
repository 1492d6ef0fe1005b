import { expect } from "chai";
import { GENESIS_HASH } from "tallystick-protocol/ledger/entry";
import { expectProblem } from "./support/expectProblem.ts";
import { KEY, proposal } from "./support/proposals.ts";
import { envelope, listingBody, receiptBody } from "./support/records.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { openTestService, type TestService } from "./support/testService.ts";

/** A request for each writing route that passes every check. The tests make the invalid requests from it. */
const GOOD: { [route: string]: () => Promise<unknown> } = {
  "/v1/settle": async () => proposal(GENESIS_HASH),
  "/v1/listings": () => envelope(listingBody()),
  "/v1/receipts": () => envelope(receiptBody()),
};

describe("the settlement service over HTTP", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path);
  });
  afterEach(() => service.close());

  describe("every route that writes", () => {
    for (const [route, good] of Object.entries(GOOD)) {
      it(`${route} accepts a valid body`, async () => {
        const answer = await service.post(route, await good(), KEY);
        expect(answer.status, answer.text).to.be.within(200, 201);
        expect(answer.json).to.include({ status: "SETTLED", hash: service.ledger.head, index: 0 });
        expect(service.ledger.size).to.equal(1);
      });

      for (const [what, body] of [
        ["nothing", ""],
        ["half an object", '{"a": 1'],
        ["text that is no JSON", "hello"],
        ["two objects", "{} {}"],
        ["NaN", '{"a": NaN}'],
        ["a float beyond the range", '{"a": 1e999}'],
        ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
        ["a byte order mark", "\ufeff{}"],
        ["a key that occurs twice", '{"body": {}, "signature": "0x", "body": {}}'],
        ["nesting that is too deep", `${"[".repeat(2000)}${"]".repeat(2000)}`],
      ] as const) {
        it(`${route} answers 400 to ${what}`, async () => {
          expectProblem(service, await service.post(route, body, KEY), 400, "malformed_json", ["body"]);
        });
      }

      for (const [what, body] of [
        ["an array", []],
        ["text", '"text"'],
        ["a number", 7],
        ["null", "null"],
      ] as const) {
        it(`${route} answers 400 to ${what} instead of an object`, async () => {
          expectProblem(service, await service.post(route, body, KEY), 400, "invalid_input", ["body"]);
        });
      }

      it(`${route} answers 413 beyond 64 KiB, whether the length is announced or not`, async () => {
        const body = JSON.stringify({ ...((await good()) as object), padding: "x".repeat(64 * 1024) });
        expectProblem(service, await service.post(route, body, KEY), 413, "payload_too_large");
        expectProblem(
          service,
          await service.post(route, "{}", { ...KEY, "content-length": "65537" }),
          413,
          "payload_too_large",
        );
        const stream = new Blob([body]).stream();
        const init = { method: "POST", body: stream, headers: KEY, duplex: "half" } as RequestInit;
        expect((await service.app.request(route, init)).status).to.equal(413);
      });

      it(`${route} accepts a body of exactly 64 KiB`, async () => {
        const text = JSON.stringify(await good());
        const answer = await service.post(route, text + " ".repeat(64 * 1024 - text.length), KEY);
        expect(answer.status, answer.text).to.be.within(200, 201);
      });

      it(`${route} answers 405 to other methods`, async () => {
        expectProblem(service, await service.get(route), 405, "method_not_allowed");
      });
    }
  });

  it("answers 405 to a wrong method of every route, and names the right methods", async () => {
    const methodsOf = new Map<string, Set<string>>();
    for (const { method, path } of service.app.routes) {
      if (method !== "ALL") methodsOf.set(path, (methodsOf.get(path) ?? new Set()).add(method));
    }
    expect([...methodsOf.keys()]).to.include.members(["/v1/settle", "/tlog/checkpoint", "/tlog/tile/*"]);
    for (const [path, methods] of methodsOf) {
      const answer = await service.app.request(path.replace(/:\w+|\*/g, "x"), { method: "DELETE" });
      const allowed = ["GET", "HEAD", "POST"].filter((it) => methods.has(it === "HEAD" ? "GET" : it));
      expect([answer.status, answer.headers.get("allow")], path).to.deep.equal([405, allowed.join(", ")]);
    }
  });

  it("shows nothing internal after an unexpected error, and logs it", async () => {
    service.ledger.verify = () => Promise.reject(new Error("secret path"));
    const answer = await service.get("/v1/ledger/verify");
    expect([answer.status, answer.json.code]).to.deep.equal([500, "internal"]);
    expect(answer.text).not.to.contain("secret");
    expect(service.logged).to.deep.equal(["A request failed."]);
  });
});
