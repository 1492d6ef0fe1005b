import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { checkFeedbackFile } from "tallystick-protocol/erc8004/checkFeedbackFile";
import { feedbackContent } from "tallystick-protocol/erc8004/feedbackFile";
import { fileHash, MAX_FILE_BYTES, writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { registrationContent } from "tallystick-protocol/erc8004/registrationFile";
import { responseContent } from "tallystick-protocol/erc8004/responseFile";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import { signRecord } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { FileStore } from "../../../services/settlement/erc8004/fileStore.ts";
import { bound, buyer, envelope, listingBody, receiptBody, seller } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW, openTestService, type TestService } from "../support/testService.ts";

const REGISTRY = { chainId: 8453, address: `0x${"80".repeat(20)}` as const };
const stranger = privateKeyToAccount(`0x${"33".repeat(32)}`);

describe("files of ERC-8004", () => {
  const folder = temporaryFolder();
  let service: TestService;
  let receipt: string;
  let rating: string;
  let listing: string;

  beforeEach(async () => {
    service = await openTestService(folder.path, { TRUST_PROXY: "1" });
    listing = (await service.post("/v1/listings", await envelope(listingBody()))).json.hash;
    receipt = (await service.post("/v1/receipts", await envelope(receiptBody()))).json.hash;
    rating = await rate(receipt, 4);
  });
  afterEach(() => service.close());

  async function rate(of: string, stars: number): Promise<string> {
    const record = await bound("rating", { receipt: of, side: "buyer", stars }, buyer);
    const answer = await service.post("/v1/rate", { ...record, rating_token: ratingToken(of, "buyer") });
    expect(answer.status, answer.text).to.equal(201);
    return answer.json.hash;
  }
  const proofOf = async (of = receipt) => {
    const answer = await service.get(`/v1/erc8004/hire-proof?receipt=${of}`);
    expect(answer.status, answer.text).to.equal(200);
    return answer.json;
  };
  async function feedback(agentId = 7, of = receipt): Promise<string> {
    const { receipt_proof: receiptProof, rating_proof: ratingProof } = await proofOf(of);
    return writeJsonFile(feedbackContent({ agentRegistry: REGISTRY, agentId, receiptProof, ratingProof }))
      .text;
  }
  async function keep(
    file: string,
    by: LocalAccount,
    knownBy: string,
    changes: RecordBody = {},
    ledger: "local" | `0x${string}` = "local",
    headers: { [name: string]: string } = {},
  ) {
    const word = { file_hash: fileHash(file), known_by: knownBy, issued_at: NOW, ...changes };
    const record = await signRecord({ type: "erc8004_file", ledger, body: word, account: by });
    const { body, signature } = record;
    return await service.post("/v1/erc8004/files", { body, signature, file }, headers);
  }
  const registration = (description: string) =>
    writeJsonFile(
      registrationContent({
        name: "Translator",
        description,
        hire: [{ endpoint: "https://seller.example/hire", capabilities: ["text.translate.en.it"] }],
        registrations: [{ agentId: 7, agentRegistry: `eip155:8453:${REGISTRY.address}` }],
      }),
    ).text;

  it("prove a receipt and its rating with one checkpoint, and the whole feedback follows from this proof", async () => {
    const text = await feedback();
    const { findings, file } = checkFeedbackFile(text, { hash: fileHash(text) });
    expect(findings.filter(({ holds }) => holds !== true)).to.deep.equal([]);
    expect(file).to.deep.include({ agentId: 7, value: 80, valueDecimals: 0, tag1: "starred" });
    expect(file?.proofOfPayment).to.deep.equal({
      fromAddress: buyer.address.toLowerCase(),
      toAddress: seller.address.toLowerCase(),
      chainId: "8453",
      txHash: receiptBody().tx_hash,
    });
    expect(file?.tallystick).to.include({ receipt, rating, stars: 4, ledger: "local" });
  });

  it("get no proof for a receipt that is not rated, or not in the ledger", async () => {
    const other = await service.post("/v1/receipts", await envelope(receiptBody({ hire_id: "rcpt_02" })));
    const unrated = await service.get(`/v1/erc8004/hire-proof?receipt=${other.json.hash}`);
    expect([unrated.status, unrated.json.code]).to.deep.equal([404, "not_rated"]);
    const unknown = await service.get(`/v1/erc8004/hire-proof?receipt=${"0".repeat(64)}`);
    expect([unknown.status, unknown.json.code]).to.deep.equal([400, "not_in_ledger"]);
    expect((await service.get("/v1/erc8004/hire-proof?receipt=1")).status).to.equal(400);
  });

  it("are stored once, served by their hash, and never change", async () => {
    const file = await feedback();
    const kept = await keep(file, buyer, rating);
    expect([kept.status, kept.json.kind], kept.text).to.deep.equal([201, "feedback"]);
    expect((await keep(file, buyer, rating)).status).to.equal(200);
    const answer = await service.app.request(kept.json.path);
    expect(await answer.text()).to.equal(file);
    expect(answer.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
    expect(answer.headers.get("content-type")).to.contain("application/json");
    const etag = answer.headers.get("etag") as string;
    const again = await service.app.request(kept.json.path, { headers: { "if-none-match": etag } });
    expect([again.status, await again.text()]).to.deep.equal([304, ""]);
    for (const name of [`0x${"00".repeat(32)}.json`, "x", "0x12.json"])
      expect((await service.get(`/v1/erc8004/files/${name}`)).status).to.equal(404);
    expect(service.ledger.size).to.equal(3);
  });

  it("survive a restart", async () => {
    const { json } = await keep(await feedback(), buyer, rating);
    await service.close();
    service = await openTestService(folder.path);
    expect((await service.get(json.path)).status).to.equal(200);
  });

  it("are refused from anybody except the buyer, and from strangers to this ledger", async () => {
    const file = await feedback();
    const refusals: [string, Awaited<ReturnType<typeof keep>>][] = [
      ["signer", await keep(file, seller, listing)],
      ["body.known_by", await keep(file, stranger, listing)],
      ["body.known_by", await keep(file, buyer, "0".repeat(64))],
      ["body.issued_at", await keep(file, buyer, rating, { issued_at: NOW - 601 })],
      ["body.file_hash", await keep(file, buyer, rating, { file_hash: `0x${"00".repeat(32)}` })],
      ["body.ledger", await keep(file, buyer, rating, {}, `0x${"11".repeat(32)}`)],
    ];
    for (const [field, { status, json, text }] of refusals) {
      expect(status, text).to.equal(400);
      expect(json.errors.map((it: { field: string }) => it.field)).to.include(field);
    }
    const record = await bound(
      "erc8004_file",
      { file_hash: fileHash(file), known_by: rating, issued_at: NOW },
      buyer,
    );
    const forged = await service.post("/v1/erc8004/files", {
      ...{ ...record, signer: seller.address.toLowerCase() },
      file,
    });
    expect([forged.status, forged.json.code]).to.deep.equal([400, "invalid_signature"]);
  });

  it("are refused if they are not valid files", async () => {
    const file = JSON.parse(await feedback());
    const changed: [string, object][] = [
      ["file.value", { ...file, value: 100 }],
      ["file.tag2", { ...file, tag2: "text.translate.it.en" }],
      [
        "file.proofOfPayment.txHash",
        { ...file, proofOfPayment: { ...file.proofOfPayment, txHash: `0x${"11".repeat(32)}` } },
      ],
      ["file.note", { ...file, note: "more" }],
    ];
    for (const [field, content] of changed) {
      const { status, json, text } = await keep(writeJsonFile(content as RecordBody).text, buyer, rating);
      expect([status, json.code], text).to.deep.equal([400, "file_refused"]);
      expect(
        json.errors.map((it: { field: string }) => it.field),
        field,
      ).to.satisfy((fields: string[]) => fields.some((it) => it === field || it === "file.file"));
    }
    for (const text of ["{}", "[]", "{ }", '{"a":1,"a":1}', "x", `"${"a".repeat(MAX_FILE_BYTES)}"`])
      expect((await keep(text, buyer, rating)).status, text.slice(0, 20)).to.equal(400);
  });

  it("are limited to four for a receipt, so that a rating does not fill the disk", async () => {
    for (const agentId of [1, 2, 3, 4])
      expect((await keep(await feedback(agentId), buyer, rating)).status).to.equal(201);
    const fifth = await keep(await feedback(5), buyer, rating);
    expect([fifth.status, fifth.json.code]).to.deep.equal([409, "too_many_files"]);
    expect((await keep(await feedback(4), buyer, rating)).status).to.equal(200);
  });

  it("include only the newest eight registrations of an agent", async () => {
    const paths: string[] = [];
    for (let n = 0; n < 9; n++) {
      const { status, json, text } = await keep(registration(`version ${n}`), seller, listing);
      expect(status, text).to.equal(201);
      paths.push(json.path);
    }
    expect((await service.get(paths[0] as string)).status).to.equal(404);
    for (const path of paths.slice(1)) expect((await service.get(path)).status).to.equal(200);
  });

  it("include a response that reports spam, and no response whose verdict is another record", async () => {
    const place = {
      agentRegistry: REGISTRY,
      agentId: 7,
      client: stranger.address.toLowerCase() as `0x${string}`,
      index: 1,
    };
    const note = writeJsonFile(responseContent(place, { spam: { reason: "no_hire", detail: "" } })).text;
    expect((await keep(note, seller, listing)).status).to.equal(201);
    const { receipt_proof } = await proofOf();
    const { spam: _, ...rest } = JSON.parse(note);
    const refused = async (proofs: RecordBody) => {
      const { status, json } = await keep(writeJsonFile({ ...rest, ...proofs }).text, seller, listing);
      return [status, json.errors[0].field, json.errors[0].message];
    };
    expect(await refused({ verdict_proof: receipt_proof, receipt_proof })).to.deep.equal([
      ...[400, "verdict_proof.entry", "must be an audit_verdict, and is receipt"],
    ]);
    expect((await refused({ verdict_proof: receipt_proof }))[2]).to.contain("receipt_proof together");
  });

  it("are limited to a hundred new ones a day for an address, with any number of wallets", async () => {
    const from = (address: string) => ({ "x-forwarded-for": address });
    const text = (n: number) =>
      writeJsonFile(
        responseContent(
          {
            agentRegistry: REGISTRY,
            agentId: 7,
            client: stranger.address.toLowerCase() as `0x${string}`,
            index: n,
          },
          { spam: { reason: "no_hire", detail: "" } },
        ),
      ).text;
    const keepFrom = (n: number, address: string, by = seller, knownBy = listing, issued_at = NOW) =>
      keep(text(n), by, knownBy, { issued_at }, "local", from(address));
    for (let n = 1; n <= 60; n++) expect((await keepFrom(n, "192.0.2.1")).status).to.equal(201);
    for (let n = 61; n <= 100; n++)
      expect((await keepFrom(n, "192.0.2.1", buyer, rating)).status).to.equal(201);
    const refused = await keepFrom(101, "192.0.2.1", buyer, rating);
    expect([refused.status, refused.json.code]).to.deep.equal([429, "rate_limited"]);
    expect((await keepFrom(100, "192.0.2.1", buyer, rating)).status, "kept already").to.equal(200);
    expect((await keepFrom(101, "192.0.2.2", buyer, rating)).status, "another address").to.equal(201);
    service.clock.now += 86_400;
    const next = await keepFrom(102, "192.0.2.1", buyer, rating, service.clock.now);
    expect(next.status, "the next day").to.equal(201);
  });

  it("count for the limit of a day only if they are stored", async () => {
    const [first, second] = [registration("first"), registration("second")];
    const send = (text: string) => keep(text, seller, listing);
    const disk = new DatabaseSync(path.join(folder.path, "local", "erc8004.sqlite"));
    disk.exec("CREATE TRIGGER disk BEFORE INSERT ON file BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END");
    for (let n = 0; n < 101; n++) expect((await send(first)).status).to.equal(500);
    disk.exec("DROP TRIGGER disk");
    disk.close();
    expect((await send(first)).status).to.equal(201);
    // Two requests that are both counted before the file is stored.
    const both = await Promise.all([send(second), send(second)]);
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 201]);
  });

  it("stop at their space limit, separately for each kind", () => {
    const store = new FileStore(undefined, { feedback: 10, registration: 4, response: 0 });
    const file = (text: string) => ({ text, hash: fileHash(text) });
    const by = `0x${"11".repeat(20)}` as const;
    expect(store.keep(file("12345"), "feedback", "a", by)).to.equal(true);
    expect(() => store.keep(file("123456"), "feedback", "b", by)).to.throw(
      "no room for more files of the kind feedback",
    );
    expect(store.keep(file("67890"), "feedback", "b", by)).to.equal(true);
    expect(store.keep(file("1234"), "registration", "a", by)).to.equal(true);
    expect(() => store.keep(file("1"), "response", "a", by)).to.throw("no room for more files");
    store.close();
  });

  it("are refused with the reason if the disk is full, and can be stored afterwards", () => {
    const store = new FileStore(folder.path);
    const file = (text: string) => ({ text, hash: fileHash(text) });
    const by = `0x${"11".repeat(20)}` as const;
    const disk = new DatabaseSync(path.join(folder.path, "erc8004.sqlite"));
    // SQLite ends a transaction itself when a disk is full.
    disk.exec("CREATE TRIGGER disk BEFORE INSERT ON file BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END");
    expect(() => store.keep(file("12345"), "feedback", "a", by)).to.throw("disk is full");
    disk.exec("DROP TRIGGER disk");
    expect(store.keep(file("12345"), "feedback", "a", by)).to.equal(true);
    disk.close();
    store.close();
  });
});
