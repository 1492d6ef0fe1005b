import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import type { RecordBody } from "../../protocol/json/recordBody.ts";
import { GENESIS_HASH, parseEntryLine } from "../../protocol/ledger/entry.ts";
import { readVectors } from "../vectors/vectors.ts";
import { buyer, envelope, flat, listingBody, receiptBody } from "./support/records.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { API_KEY, NOW, openTestService, type TestAnswer, type TestService } from "./support/testService.ts";

const KEY = { authorization: `Bearer ${API_KEY}` };

function proposal(parentHash: string, changes: { [key: string]: unknown } = {}) {
  return {
    header: { task_id: "task-1", parent_hash: parentHash, agent_metadata: { model: "m", version: "1" } },
    payload: { data_update: { core_logic: "be kind", budget: 100, other: 1 }, confidence_score: 0.9 },
    ...changes,
  };
}

/** A request that every check likes, per writing route: what the broken ones are made from. */
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

  const ledgerText = () => readFileSync(path.join(folder.path, "local", "ledger.jsonl"), "latin1");

  /** Expects a problem that names these fields, and an untouched ledger. */
  function expectProblem(answer: TestAnswer, status: number, code: string, fields?: string[]): void {
    expect(answer.type, answer.text).to.equal("application/problem+json");
    expect(answer.status, answer.text).to.equal(status);
    expect(answer.json).to.include({ status, code });
    expect(answer.json.title).to.be.a("string").and.not.equal("");
    expect(answer.json.detail).to.be.a("string").and.not.equal("");
    if (fields)
      expect(answer.json.errors?.map((error: { field: string }) => error.field)).to.deep.equal(fields);
    expect(service.ledger.size).to.equal(0);
    expect(ledgerText()).to.equal("");
  }

  describe("every route that writes", () => {
    for (const [route, good] of Object.entries(GOOD)) {
      it(`${route} takes what is right`, async () => {
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
        ["nesting without end", `${"[".repeat(2000)}${"]".repeat(2000)}`],
      ] as const) {
        it(`${route} answers 400 to ${what}`, async () => {
          expectProblem(await service.post(route, body, KEY), 400, "malformed_json", ["body"]);
        });
      }

      for (const [what, body] of [
        ["an array", []],
        ["text", '"text"'],
        ["a number", 7],
        ["null", "null"],
      ] as const) {
        it(`${route} answers 400 to ${what} instead of an object`, async () => {
          expectProblem(await service.post(route, body, KEY), 400, "invalid_input", ["body"]);
        });
      }

      it(`${route} answers 413 beyond 64 KiB, whether the length is announced or not`, async () => {
        const body = JSON.stringify({ ...((await good()) as object), padding: "x".repeat(64 * 1024) });
        expectProblem(await service.post(route, body, KEY), 413, "payload_too_large");
        expectProblem(
          await service.post(route, "{}", { ...KEY, "content-length": "65537" }),
          413,
          "payload_too_large",
        );
        const stream = new Blob([body]).stream();
        const init = { method: "POST", body: stream, headers: KEY, duplex: "half" } as RequestInit;
        expect((await service.app.request(route, init)).status).to.equal(413);
      });

      it(`${route} takes a body of exactly 64 KiB`, async () => {
        const text = JSON.stringify(await good());
        const answer = await service.post(route, text + " ".repeat(64 * 1024 - text.length), KEY);
        expect(answer.status, answer.text).to.be.within(200, 201);
      });

      it(`${route} answers 405 to other methods`, async () => {
        expectProblem(await service.get(route), 405, "method_not_allowed");
      });
    }
  });

  describe("POST /v1/settle", () => {
    it("wants a key, before it reads anything", async () => {
      for (const headers of [
        {},
        { authorization: "Bearer wrong" },
        { authorization: `Basic ${API_KEY}` },
        { authorization: "Bearer " },
      ]) {
        const answer = await service.post(
          "/v1/settle",
          "not even JSON",
          headers as { [name: string]: string },
        );
        expectProblem(answer, 401, "unauthorized");
      }
      const response = await service.app.request("/v1/settle", { method: "POST" });
      expect(response.headers.get("www-authenticate")).to.match(/^Bearer/);
    });

    it("takes any key that the operator gave out", async () => {
      const answer = await service.post("/v1/settle", proposal(GENESIS_HASH), {
        authorization: "bearer other",
      });
      expect(answer.json.status).to.equal("SETTLED");
    });

    it("is closed when the operator gave out none", async () => {
      await service.close();
      service = await openTestService(folder.path, { SETTLEMENT_API_KEYS: "" });
      expectProblem(
        await service.post("/v1/settle", proposal(GENESIS_HASH), { authorization: "Bearer " }),
        401,
        "unauthorized",
      );
    });

    it("keeps ints and floats apart as they were sent", async () => {
      const text = JSON.stringify(proposal(GENESIS_HASH)).replace(
        '"budget":100',
        '"budget":100.0,"big":123456789012345678901234567890',
      );
      await service.post("/v1/settle", text, KEY);
      expect(ledgerText()).to.contain('"big": 123456789012345678901234567890, "budget": 100.0');
    });

    it("answers REJECTED and ESCROWED with 200: they are outcomes, not errors", async () => {
      const drifted = await service.post("/v1/settle", proposal("ab".repeat(32)), KEY);
      const reason = "State drift detected. Re-base required.";
      expect([drifted.status, drifted.json]).to.deep.equal([
        200,
        { status: "REJECTED", reason, head: GENESIS_HASH },
      ]);
      const shadow = { payload: { data_update: { core_logic: "be rude", budget: 1 } } };
      const escrowed = await service.post("/v1/settle", proposal(GENESIS_HASH, { shadow }), KEY);
      expect(escrowed.status).to.equal(200);
      expect(escrowed.json).to.include({ status: "ESCROWED", reason: "High model divergence." });
      expect((await service.get("/v1/status/task-1")).json).to.include({
        task_id: "task-1",
        status: "ESCROWED",
      });
    });

    const header = proposal(GENESIS_HASH).header;
    const payload = proposal(GENESIS_HASH).payload;
    const wrong: [string, { [key: string]: unknown }, string[]][] = [
      ["no header", { header: undefined }, ["header"]],
      ["no payload", { payload: null }, ["payload"]],
      ["neither", { header: 1, payload: [] }, ["header", "payload"]],
      ["no task_id", { header: { ...header, task_id: undefined } }, ["header.task_id"]],
      ["a task_id that is a number", { header: { ...header, task_id: 1 } }, ["header.task_id"]],
      ["an empty task_id", { header: { ...header, task_id: "" } }, ["header.task_id"]],
      ["a task_id with a NUL", { header: { ...header, task_id: "a\u0000" } }, ["header.task_id"]],
      [
        "a task_id of 129 characters",
        { header: { ...header, task_id: "a".repeat(129) } },
        ["header.task_id"],
      ],
      ["a short parent_hash", { header: { ...header, parent_hash: "00" } }, ["header.parent_hash"]],
      [
        "a parent_hash in capitals",
        { header: { ...header, parent_hash: "AB".repeat(32) } },
        ["header.parent_hash"],
      ],
      ["metadata that is text", { header: { ...header, agent_metadata: "m" } }, ["header.agent_metadata"]],
      ["a context_hash that is none", { header: { ...header, context_hash: "x" } }, ["header.context_hash"]],
      [
        "a data_update that is an array",
        { payload: { ...payload, data_update: [] } },
        ["payload.data_update"],
      ],
      [
        "a confidence that is text",
        { payload: { ...payload, confidence_score: "0.9" } },
        ["payload.confidence_score"],
      ],
      [
        "a confidence above 1",
        { payload: { ...payload, confidence_score: 1.1 } },
        ["payload.confidence_score"],
      ],
      [
        "a confidence below 0",
        { payload: { ...payload, confidence_score: -1 } },
        ["payload.confidence_score"],
      ],
      ["a proof that is an object", { proof: {} }, ["proof"]],
      ["a shadow that is text", { shadow: "x" }, ["shadow"]],
      ["a shadow without data", { shadow: { payload: {} } }, ["shadow.payload.data_update"]],
    ];
    for (const [what, changes, fields] of wrong) {
      it(`answers 400 to ${what}`, async () => {
        const answer = await service.post("/v1/settle", proposal(GENESIS_HASH, changes), KEY);
        expectProblem(answer, 400, "invalid_input", fields);
      });
    }
  });

  describe("POST /v1/listings and /v1/receipts", () => {
    it("take what existing Swarmwage SDKs send, as it is", async () => {
      const { records } = readVectors<{ records: { body: RecordBody; signature: string }[] }>("records.json");
      service.clock.now = Date.UTC(2026, 0, 31, 12, 1) / 1000;
      const [listing, receipt] = records;
      const first = await service.post("/v1/listings", { ...listing!.body, signature: listing!.signature });
      const second = await service.post("/v1/receipts", { ...receipt!.body, signature: receipt!.signature });
      expect([first.status, second.status], second.text).to.deep.equal([201, 201]);
      const lines = ledgerText().trimEnd().split("\n").map(parseEntryLine);
      expect(lines.map(({ payload }) => payload.signature)).to.deep.equal([
        listing!.signature,
        receipt!.signature,
      ]);
      expect(lines[1]!.payload.body).to.deep.equal(receipt!.body);
    });

    it("give the same entry back with 200 when the same record comes again, in either form", async () => {
      const first = await service.post("/v1/receipts", await envelope(receiptBody()));
      const again = await service.post("/v1/receipts", await flat(receiptBody()));
      expect([first.status, again.status]).to.deep.equal([201, 200]);
      expect(again.json).to.deep.equal(first.json);
      expect(first.json).to.include({ type: "receipt", status: "SETTLED", index: 0, timestamp: NOW });
      expect(service.ledger.size).to.equal(1);
    });

    it("name the field as it is called in the form that was sent", async () => {
      const bad = listingBody({ capability: "Translate!", price_usdc: "0.1234567" });
      expectProblem(await service.post("/v1/listings", await envelope(bad)), 400, "invalid_input", [
        "body.capability",
        "body.price_usdc",
      ]);
      expectProblem(await service.post("/v1/listings", await flat(bad)), 400, "invalid_input", [
        "capability",
        "price_usdc",
      ]);
      const plain = listingBody({ endpoint: "http://seller.example" });
      expectProblem(await service.post("/v1/listings", await flat(plain)), 400, "invalid_input", [
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
        expectProblem(listing, 400, "invalid_input");
        expect(listing.json.errors[0].field).to.equal("body.capability");
        const receipt = await service.post("/v1/receipts", await envelope(receiptBody({ capability })));
        expectProblem(receipt, 400, "invalid_input");
        expect(receipt.json.errors[0].field).to.equal("body.capability");
      });
    }

    it("answer 400 to bad signatures, with what should have been signed", async () => {
      for (const [route, body] of [
        ["/v1/listings", listingBody()],
        ["/v1/receipts", receiptBody()],
      ] as const) {
        const { signature } = await envelope(body);
        for (const bad of [undefined, "", "sig", 7, null, "0x123"]) {
          expectProblem(await service.post(route, { body, signature: bad }), 400, "invalid_input", [
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
          expectProblem(answer, 400, "invalid_signature", ["signature"]);
          expect(answer.json.hint).to.match(/0x[0-9a-f]{64}/);
        }
        const tampered = { ...body, capability: "text.translate.en.fr" };
        expectProblem(await service.post(route, { ...tampered, signature }), 400, "invalid_signature", [
          "signature",
        ]);
      }
    });

    it("answer 400 to what is not signed in the envelope, and to a signer that is not the agent", async () => {
      const good = await envelope(listingBody());
      expectProblem(await service.post("/v1/listings", { ...good, note: "x" }), 400, "invalid_input", [
        "note",
      ]);
      expectProblem(await service.post("/v1/listings", { ...good, type: "receipt" }), 400, "invalid_input", [
        "type",
      ]);
      expectProblem(await service.post("/v1/listings", { ...good, signer: "me" }), 400, "invalid_input", [
        "signer",
      ]);
      const other = buyer.address.toLowerCase();
      expectProblem(await service.post("/v1/listings", { ...good, signer: other }), 400, "invalid_input", [
        "signer",
      ]);
    });

    it("answer 400 to floats and other things that cannot be signed", async () => {
      const { signature } = await envelope(listingBody());
      const withFloat = { body: { ...listingBody(), latitude: 47.5 }, signature };
      expectProblem(await service.post("/v1/listings", withFloat), 400, "invalid_input", ["body.latitude"]);
      const surrogate = JSON.stringify({ body: listingBody(), signature }).replace('"text.', '"\\ud800text.');
      expectProblem(await service.post("/v1/listings", surrogate), 400, "invalid_input", ["body.capability"]);
    });

    it("take http and private endpoints only in development", async () => {
      const local = await envelope(listingBody({ endpoint: "http://127.0.0.1:4000/hire" }));
      expectProblem(await service.post("/v1/listings", local), 400, "invalid_input", ["body.endpoint"]);
      await service.close();
      service = await openTestService(folder.path, { DEV_MODE: "1" });
      expect((await service.post("/v1/listings", local)).status).to.equal(201);
    });
  });

  describe("reading", () => {
    async function settle(count: number): Promise<void> {
      for (let i = 0; i < count; i++) {
        const { json } = await service.post("/v1/settle", proposal(service.ledger.head), KEY);
        expect(json.status).to.equal("SETTLED");
      }
    }

    it("GET /v1/ledger/latest gives size, hash and root, with 64 zeros in the beginning", async () => {
      expect((await service.get("/v1/ledger/latest")).json).to.deep.equal({
        ledger: "local",
        origin: "tallystick.local/ledger",
        size: 0,
        hash: GENESIS_HASH,
        root: "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      });
      await settle(2);
      const { json } = await service.get("/v1/ledger/latest");
      expect(json).to.include({ size: 2, hash: service.ledger.head });
    });

    it("GET /v1/ledger/verify reads the file again and names the first bad line", async () => {
      await settle(3);
      const good = await service.get("/v1/ledger/verify");
      expect(good.json).to.deep.include({ valid: true, size: 3, hash: service.ledger.head });
      const { writeFileSync } = await import("node:fs");
      const [first, second, third] = ledgerText().trimEnd().split("\n") as [string, string, string];
      writeFileSync(
        service.ledger.path,
        `${[first, second.replace("be kind", "be rude"), third].join("\n")}\n`,
      );
      const bad = await service.get("/v1/ledger/verify");
      expect(bad.json).to.include({ valid: false, line: 2 });
      expect(bad.json.reason).to.match(/^current_hash is /);
    });

    it("GET /v1/ledger/entries gives any segment as canonical lines", async () => {
      await settle(4);
      const lines = ledgerText().split("\n");
      const all = await service.get("/v1/ledger/entries");
      expect([all.status, all.type, all.text]).to.deep.equal([200, "application/jsonl", ledgerText()]);
      expect((await service.get("/v1/ledger/entries?from=1&to=3")).text).to.equal(
        `${lines[1]}\n${lines[2]}\n`,
      );
      expect((await service.get("/v1/ledger/entries?from=4&to=4")).text).to.equal("");
    });

    for (const [query, fields] of [
      ["from=-1", ["from"]],
      ["from=x", ["from"]],
      ["to=1.5", ["to"]],
      ["from=0&to=1", ["to"]],
      ["from=1", ["from", "to"]],
      ["from=99999999999999999999", ["from"]],
    ] as const) {
      it(`GET /v1/ledger/entries answers 400 to ${query} on an empty ledger`, async () => {
        const answer = await service.get(`/v1/ledger/entries?${query}`);
        expect(answer.status).to.equal(400);
        expect(answer.json.errors.map((error: { field: string }) => error.field)).to.deep.equal(fields);
      });
    }

    it("GET /v1/context gives the keys asked for and core_logic, with the head they were taken at", async () => {
      await settle(1);
      const response = await service.app.request("/v1/context?keywords=budget,unknown");
      expect(await response.text()).to.equal('{"budget": 100, "core_logic": "be kind"}');
      expect(response.headers.get("x-parent-hash")).to.equal(service.ledger.head);
      expect((await service.get("/v1/context")).json).to.deep.equal({ core_logic: "be kind" });
    });

    it("GET /v1/status tells the latest and the history of a task, 404 of an unknown one", async () => {
      await settle(2);
      const { json } = await service.get("/v1/status/task-1");
      expect(json).to.include({ task_id: "task-1", status: "SETTLED", hash: service.ledger.head, index: 1 });
      expect(json.history.map((entry: { index: number }) => entry.index)).to.deep.equal([0, 1]);
      const unknown = await service.get("/v1/status/nothing");
      expect([unknown.status, unknown.json.code]).to.deep.equal([404, "unknown_task"]);
    });

    it("GET /health tells that the service is there", async () => {
      expect((await service.get("/health")).json).to.include({
        status: "ok",
        size: 0,
        held: 0,
        anchoring: null,
      });
    });

    it("answers 404 with a problem to what there is not", async () => {
      const answer = await service.get("/v1/nothing");
      expect([answer.status, answer.type, answer.json.code]).to.deep.equal([
        404,
        "application/problem+json",
        "not_found",
      ]);
    });
  });

  it("tells nothing of its insides when something unforeseen fails, and logs it", async () => {
    service.ledger.verify = () => Promise.reject(new Error("secret path"));
    const answer = await service.get("/v1/ledger/verify");
    expect([answer.status, answer.json.code]).to.deep.equal([500, "internal"]);
    expect(answer.text).not.to.contain("secret");
    expect(service.logged).to.deep.equal(["A request failed."]);
  });
});
