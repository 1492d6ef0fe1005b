import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { GENESIS_HASH, type LedgerEntry } from "tallystick-protocol/ledger/entry";
import { recordDigest, type SignedRecord, signRecord } from "tallystick-protocol/records/record";
import { HeldProposals } from "../../../services/settlement/engine/heldProposals.ts";
import { defaultRules } from "../../../services/settlement/engine/institutionalRules.ts";
import { LedgerClock } from "../../../services/settlement/engine/ledgerClock.ts";
import { LedgerIndex } from "../../../services/settlement/engine/ledgerIndex.ts";
import type { Proposal } from "../../../services/settlement/engine/proposal.ts";
import type { ResolveHost } from "../../../services/settlement/engine/requirePublicEndpoint.ts";
import { RuleBook } from "../../../services/settlement/engine/ruleBook.ts";
import {
  type SettledRecord,
  SettlementEngine,
} from "../../../services/settlement/engine/settlementEngine.ts";
import { readTaskStatus } from "../../../services/settlement/engine/taskStatus.ts";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";
import type { IsContractSignature } from "../../../services/settlement/signatures/checkSignature.ts";
import { buyer, listingBody, receiptBody, seller } from "../support/records.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { NOW } from "../support/testService.ts";

describe("the settlement engine", () => {
  const folder = temporaryFolder();
  let ledger: DiskLedger;
  let held: HeldProposals;
  let engine: SettlementEngine;
  let index: LedgerIndex;
  let entries: LedgerEntry[];

  async function start(isContractSignature?: IsContractSignature, resolveHost?: ResolveHost): Promise<void> {
    index = new LedgerIndex();
    entries = [];
    ledger = await DiskLedger.open({
      folder: folder.path,
      onEntry: (entry, at) => {
        index.add(entry, at);
        entries.push(entry);
      },
    });
    held = await HeldProposals.open(folder.path, () => {});
    const ruleBook = new RuleBook(defaultRules({ minConfidence: 0.85, maxDriftAllowed: 0.15 }));
    const now = () => NOW + 0.25;
    engine = new SettlementEngine({
      ...(resolveHost && { resolveHost }),
      ledger,
      ledgerName: "local",
      index,
      held,
      ruleBook,
      clock: new LedgerClock({ now, gate: new LedgerGate(() => {}), limitSeconds: 0 }),
      now,
      ...(isContractSignature && { isContractSignature }),
    });
  }
  async function stop(): Promise<void> {
    await held.close();
    await ledger.close();
  }
  beforeEach(() => start());
  afterEach(stop);

  const proposal = (changes: Partial<Proposal> = {}): Proposal => ({
    taskId: "task-1",
    parentHash: ledger.nextParent,
    agentMetadata: { model: "m", version: "1" },
    dataUpdate: { budget: 100n, name: "x" },
    confidenceScore: 0.9,
    ...changes,
  });
  const shadow = (dataUpdate: { [key: string]: PyJson }) => ({ dataUpdate });

  describe("on proposals", () => {
    it("settles into an entry with the proposal, after the head", async () => {
      const outcome = await engine.settle(
        proposal({ proof: "because", contextHash: "ab".repeat(32), confidenceScore: 1 }),
      );
      expect(outcome).to.deep.equal({
        status: "SETTLED",
        hash: ledger.head,
        index: 0,
        timestamp: NOW + 0.25,
      });
      const { payload, taskId, parentHash, timestamp } = await ledger.entry(0);
      expect({ taskId, parentHash, timestamp }).to.deep.equal({
        taskId: "task-1",
        parentHash: GENESIS_HASH,
        timestamp: NOW + 0.25,
      });
      expect(payload).to.deep.equal({
        type: "settlement",
        data_update: { budget: 100n, name: "x" },
        confidence_score: 1,
        agent_metadata: { model: "m", version: "1" },
        context_hash: "ab".repeat(32),
        proof: "because",
      });
    });

    it("rejects another parent than the head before any other check", async () => {
      await engine.settle(proposal());
      const late = proposal({ parentHash: GENESIS_HASH, confidenceScore: 0.1 });
      const reason = "State drift detected. Re-base required.";
      expect(await engine.settle(late, shadow({}))).to.deep.equal({
        status: "REJECTED",
        reason,
        head: ledger.head,
      });
      expect([ledger.size, held.size]).to.deep.equal([1, 0]);
    });

    it("rejects a confidence below the minimum before it compares the shadow, and accepts the minimum itself", async () => {
      const outcome = await engine.settle(proposal({ confidenceScore: 0.849 }), shadow({}));
      expect(outcome.status).to.equal("REJECTED");
      expect([ledger.size, held.size]).to.deep.equal([0, 0]);
      expect((await engine.settle(proposal({ confidenceScore: 0.85 }))).status).to.equal("SETTLED");
    });

    it("holds a proposal with a divergence above the limit, and settles one with exactly the limit", async () => {
      const far = await engine.settle(proposal(), shadow({ budget: 69n, name: "x" }));
      expect(far).to.include({ status: "ESCROWED", reason: "High model divergence.", divergence: 0.155 });
      expect([ledger.size, held.size]).to.deep.equal([0, 1]);
      const at = await engine.settle(proposal(), shadow({ budget: 70n, name: "x" }));
      expect(at.status).to.equal("SETTLED");
    });

    it("settles one of many simultaneous proposals with the same parent", async () => {
      const parentHash = ledger.head;
      const proposals = Array.from({ length: 20 }, (_, i) => proposal({ taskId: `t${i}`, parentHash }));
      const outcomes = await Promise.all(proposals.map((one) => engine.settle(one)));
      expect(outcomes.map(({ status }) => status)).to.deep.equal(["SETTLED", ...Array(19).fill("REJECTED")]);
      expect(ledger.size).to.equal(1);
    });

    it("keeps a held proposal and its shadow, once, after a restart", async () => {
      const far = { ...shadow({ budget: 1n, name: "y" }) };
      const first = await engine.settle(proposal(), far);
      const again = await engine.settle(proposal(), far);
      expect(again).to.deep.equal(first);
      await stop();
      await start();
      expect(held.size).to.equal(1);
      expect(await engine.settle(proposal(), far)).to.deep.equal(first);
      const lines = readFileSync(path.join(folder.path, "held.jsonl"), "latin1").trimEnd().split("\n");
      expect(lines).to.have.length(1);
      const line = parsePythonJson(lines[0]!) as { [key: string]: PyJson };
      expect(line.proposal).to.have.deep.property("data_update", { budget: 100n, name: "x" });
      expect(line.shadow).to.have.deep.property("data_update", { budget: 1n, name: "y" });
      expect((await readTaskStatus("task-1", { ledger, index, held })).held).to.have.length(1);
    });

    it("cuts a torn last line of the held proposals and stops at any other wrong line", async () => {
      await engine.settle(proposal(), shadow({}));
      await stop();
      const file = path.join(folder.path, "held.jsonl");
      appendFileSync(file, '{"id": "ab');
      await start();
      expect([held.size, held.cutBytes]).to.deep.equal([1, 10]);
      await stop();
      writeFileSync(file, `{"id": 1}\n${readFileSync(file, "latin1")}`);
      await HeldProposals.open(folder.path, () => {}).then(
        () => expect.fail("it opened"),
        (error) =>
          expect(error).to.include({ code: "held_corrupt" }).with.property("message").contains("line 1"),
      );
      writeFileSync(file, "");
      await start();
    });
  });

  describe("on records", () => {
    const listing = (changes = {}) =>
      signRecord({ type: "listing", body: listingBody(changes), account: seller });
    const receipt = (changes = {}) =>
      signRecord({ type: "receipt", body: receiptBody(changes), account: seller });
    const settleRecord = async (record: SignedRecord): Promise<SettledRecord> => {
      const outcome = await engine.settleRecord(record);
      if (outcome.status !== "SETTLED") throw new Error("it was not settled");
      return outcome;
    };
    const refusal = async (record: SignedRecord | Promise<SignedRecord>) => {
      const size = ledger.size;
      try {
        await settleRecord(await record);
      } catch (error) {
        expect(ledger.nextParent).to.equal(ledger.head);
        expect(ledger.size).to.equal(size);
        const { code, field } = error as { code: string; field: string };
        return { code, field };
      }
      throw new Error("it was settled");
    };

    it("settles listing and receipt with the signed body, after the present head", async () => {
      const records = [await listing({ unknown_key: ["kept"] }), await receipt()];
      const settled = await Promise.all(records.map((record) => settleRecord(record)));
      expect(settled.map(({ index, known }) => [index, known])).to.deep.equal([
        [0, false],
        [1, false],
      ]);
      expect(entries.map(({ payload }) => payload.type)).to.deep.equal(["listing", "receipt"]);
      expect(entries[0]!.payload.body).to.have.deep.property("unknown_key", ["kept"]);
      expect(entries[1]!.parentHash).to.equal(settled[0]!.hash);
      expect(entries[0]!.taskId).to.equal(recordDigest(records[0]!.body));
    });

    it("gives the same entry for a repeated record, also after a restart and a day", async () => {
      const record = await receipt();
      const [first, twin] = await Promise.all([settleRecord(record), settleRecord(record)]);
      expect({ ...first, known: true }).to.deep.equal({ ...twin, known: true });
      expect([first.known, twin.known].filter((known) => !known)).to.have.length(1);
      expect(await settleRecord(record)).to.deep.equal({ ...first, known: true });
      await stop();
      await start();
      expect(await settleRecord(record)).to.deep.equal({ ...first, known: true });
      expect(ledger.size).to.equal(1);
    });

    it("treats a second signature over the same body as the same record", async () => {
      const record = await listing();
      await settleRecord(record);
      const v = record.signature.endsWith("1b") ? "00" : "01";
      const respelled = { ...record, signature: `${record.signature.slice(0, -2)}${v}` as `0x${string}` };
      expect((await settleRecord(respelled)).known).to.equal(true);
      expect(ledger.size).to.equal(1);
    });

    it("refuses a signature by another key, a changed body, and a copy of a known record without one", async () => {
      const record = await listing();
      const foreign = await signRecord({ type: "listing", body: record.body, account: buyer });
      const invalid = { code: "invalid_signature", field: "signature" };
      expect(await refusal({ ...foreign, signer: record.signer })).to.deep.equal(invalid);
      expect(await refusal({ ...record, body: { ...record.body, price_usdc: "0.01" } })).to.deep.equal(
        invalid,
      );
      await settleRecord(record);
      expect(await refusal({ ...record, signature: foreign.signature })).to.deep.equal(invalid);
    });

    it("asks the signer's contract if no key signed, and trusts the contract", async () => {
      const record = await listing();
      const wallet = `0x${"cc".repeat(20)}` as const;
      const body = { ...record.body, agent_id: wallet };
      const byContract: SignedRecord = { type: "listing", body, signer: wallet, signature: "0x1234" };
      expect((await refusal(byContract)).code).to.equal("invalid_signature");
      await stop();
      await start(async ({ signer, signature }) => signer === wallet && signature === "0x1234");
      expect((await settleRecord(byContract)).known).to.equal(false);
      expect(
        (await refusal({ ...byContract, body: { ...body, price_usdc: "1" }, signature: "0x12" })).code,
      ).to.equal("invalid_signature");
    });

    it("settles a record once, also if it comes again while its signature is being checked", async () => {
      await stop();
      await start(() => new Promise((resolve) => setTimeout(() => resolve(true), 5)));
      const body = listingBody({ agent_id: `0x${"cc".repeat(20)}` });
      const record: SignedRecord = {
        type: "listing",
        body,
        signer: `0x${"cc".repeat(20)}`,
        signature: "0x1234",
      };
      const settled = await Promise.all([1, 2, 3, 4].map(() => settleRecord(record)));
      expect(new Set(settled.map(({ hash }) => hash)).size).to.equal(1);
      expect(ledger.size).to.equal(1);
    });

    it("refuses record types without rules", async () => {
      const record = await signRecord({ type: "praise", ledger: "local", body: {}, account: seller });
      expect(await refusal(record)).to.deep.equal({ code: "invalid_input", field: "type" });
    });

    const endpoints: [string, boolean][] = [
      ["https://seller.example/hire", true],
      ["https://8.8.8.8/hire", true],
      ["https://intranet/hire", false],
      ["https://node.localdomain/hire", false],
      ["https://[64:ff9b::10.0.0.1]/hire", false],
      ["https://[2002:a00:1::1]/hire", false],
      ["https://[::127.0.0.1]/hire", false],
      ["https://localhost../hire", false],
      ["https://[::ffff:0:127.0.0.1]/hire", false],
      ["https://168.63.129.16/hire", false],
      ["https://seller.example:22/hire", false],
      ["http://seller.example/hire", false],
      ["https://localhost/hire", false],
      ["https://LOCALHOST./hire", false],
      ["https://printer.local/hire", false],
      ["https://127.0.0.1/hire", false],
      ["https://2130706433/hire", false],
      ["https://0x7f.1/hire", false],
      ["https://10.1.2.3/hire", false],
      ["https://172.20.0.1/hire", false],
      ["https://192.168.1.1/hire", false],
      ["https://169.254.169.254/latest/meta-data", false],
      ["https://[::1]/hire", false],
      ["https://[::ffff:127.0.0.1]/hire", false],
      ["https://[fd00::1]/hire", false],
      ["https://[fe80::1]/hire", false],
      ["https://[2606:4700::1111]/hire", true],
    ];
    for (const [endpoint, good] of endpoints) {
      it(`${good ? "accepts" : "refuses"} a listing at the address ${endpoint}`, async () => {
        if (good) expect((await settleRecord(await listing({ endpoint }))).known).to.equal(false);
        else
          expect(await refusal(listing({ endpoint }))).to.deep.equal({
            code: "invalid_input",
            field: "body.endpoint",
          });
      });
    }

    it("refuses a listing whose name leads into a private network, after the signer is known", async () => {
      await stop();
      const asked: string[] = [];
      await start(undefined, async (host) => {
        asked.push(host);
        return host === "127.0.0.1.nip.io" ? ["8.8.8.8", "127.0.0.1"] : [];
      });
      const rebinding = listing({ endpoint: "https://127.0.0.1.nip.io/hire" });
      expect(await refusal(rebinding)).to.deep.equal({ code: "invalid_input", field: "body.endpoint" });
      const forged = { ...(await rebinding), signature: `0x${"11".repeat(65)}` as const };
      expect((await refusal(forged)).code).to.equal("invalid_signature");
      // This endpoint's name has no address, so it can harm nobody.
      expect((await settleRecord(await listing({}))).known).to.equal(false);
      expect(asked).to.deep.equal(["127.0.0.1.nip.io", "seller.example"]);
    });

    it("lets a seller retire an offer with any address", async () => {
      expect(await settleRecord(await listing({ endpoint: "http://10.0.0.1/", retired: true }))).to.include({
        index: 0,
      });
    });

    it("accepts listings of one offer in the order of issued_at, and other offers in any order", async () => {
      await settleRecord(await listing({ issued_at: NOW - 10 }));
      const late = { code: "invalid_input", field: "body.issued_at" };
      expect(await refusal(listing({ issued_at: NOW - 11, price_usdc: "2" }))).to.deep.equal(late);
      expect(await refusal(listing({ price_usdc: "2" }))).to.deep.equal(late);
      expect(await refusal(listing({ issued_at: NOW + 301 }))).to.deep.equal(late);
      await settleRecord(await listing({ issued_at: NOW - 10, price_usdc: "2" }));
      await settleRecord(
        await listing({ issued_at: NOW - 20, payment_mode: "platform_escrow:swarmwage-partnered" }),
      );
      await settleRecord(await listing({ issued_at: NOW + 299, capability: "text.translate.en.fr" }));
      await stop();
      await start();
      expect(await refusal(listing({ issued_at: NOW - 11, price_usdc: "2" }))).to.deep.equal(late);
    });

    it("accepts only receipts from 24 hours ago to 5 minutes ahead", async () => {
      const at = (completed_at: number) => receipt({ completed_at, hire_id: `h${completed_at}` });
      await settleRecord(await at(NOW - 86_399));
      await settleRecord(await at(NOW + 300));
      const tooOld = { code: "receipt_too_old", field: "body.completed_at" };
      expect(await refusal(at(NOW - 86_401))).to.deep.equal(tooOld);
      expect((await refusal(at(NOW + 302))).field).to.equal("body.completed_at");
    });

    it("refuses receipts of another protocol", async () => {
      for (const protocol_version of ["swarmwage/v1.0", "swarmwage/v0.4", "v0.3"]) {
        expect((await refusal(receipt({ protocol_version }))).code).to.equal("unsupported_protocol");
      }
    });

    it("refuses hires with oneself and free receipts that name a transaction", async () => {
      expect((await refusal(receipt({ buyer: seller.address.toLowerCase() }))).field).to.equal("body.buyer");
      expect((await refusal(receipt({ amount_usdc_atomic: "0" }))).field).to.equal("body.tx_hash");
      const free = receipt({ amount_usdc_atomic: "0", tx_hash: `0x${"00".repeat(32)}` });
      expect(await settleRecord(await free)).to.include({ index: 0 });
    });
  });
});
