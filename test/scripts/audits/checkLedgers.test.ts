import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { sha256 } from "@noble/hashes/sha2.js";
import { expect } from "chai";
import { type Hex, toHex, ZERO_HASH } from "tallystick-protocol/hex";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { releasedLedgerAddress } from "tallystick-protocol/ledger/releasedLedger";
import { defineParams } from "tallystick-protocol/records/params";
import { checkLedgers, type LedgersChain } from "../../../scripts/audits/checkLedgers.ts";
import { Findings } from "../../../scripts/audits/findings.ts";
import { TestLedger } from "../../indexer/support/testLedger.ts";

const ID = `0x${"1e".repeat(32)}`;
const WRITER = `0x${"a1".repeat(20)}` as const;
const TX = `0x${"b2".repeat(32)}`;

describe("the check of a log's ledgers, by what the node says of their opening", () => {
  let server: ReturnType<typeof serve>;
  let url: string;
  let data: unknown;
  /** The node's copy of the ledger. */
  let entries = new TestLedger();
  before(async () => {
    const fetch = ({ url: asked }: Request) => {
      const { pathname, searchParams } = new URL(asked);
      if (pathname !== "/v1/ledger/entries") return Response.json({ data });
      const lines = entries.lines(Number(searchParams.get("from")), Number(searchParams.get("to")));
      return new Response(lines.map((line) => `${line}\n`).join(""));
    };
    server = serve({ fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server?.close());

  const nothing: LedgersChain = {
    chainId: async () => 31_337,
    anchoredBy: async () => [],
    contractFault: async () => "There is no contract.",
    headOf: async () => ({ size: 0, root: ZERO_HASH }),
  };
  /** Checks a log with one record. The chain knows no anchor. */
  const check = async ({
    records = [[0, "aa"]] as [number, string][],
    id = ID as Hex,
    chain = {} as Partial<LedgersChain>,
  } = {}): Promise<Findings> => {
    const found = new Findings();
    const log = {
      params: defineParams({ ledgers: { [id]: [] } }),
      records: new Map([[id, new Map(records)]]),
    };
    await checkLedgers(url, { ...log, lastBlock: 1 }, { ...nothing, ...chain }, found);
    return found;
  };
  const opened = { origin: "a.example/1", firstWriter: WRITER, guardian: WRITER };

  it("ends with a ServiceError if the answer has another form", async () => {
    for (const wrong of [
      {},
      { ledger: opened, checkpoints: null },
      { ledger: opened, checkpoints: { nodes: [{ tx: "0x" }] } },
      { ledger: opened, checkpoints: { nodes: [{ tx: TX }, { tx: TX }] } },
      { ledger: { ...opened, guardian: "nobody" }, checkpoints: { nodes: [{ tx: TX }] } },
      { ledger: { ...opened, origin: 7 }, checkpoints: { nodes: [{ tx: TX }] } },
    ]) {
      data = wrong;
      const failure = await check().catch((error: unknown) => error);
      expect(failure, JSON.stringify(wrong)).to.include({ name: "ServiceError", code: "unreadable_answer" });
    }
  });

  it("finds that records have no anchor if the node does not know who opened their ledger", async () => {
    const checkpoints = { nodes: [{ tx: TX }] };
    for (const ledger of [null, { ...opened, firstWriter: null }, { ...opened, guardian: null }]) {
      data = { ledger, checkpoints };
      const { all } = await check();
      expect(all.map(({ holds, what }) => [holds, what])).to.deep.equal([
        [false, `The node has records of the ledger ${ID}, and no anchor of it.`],
      ]);
    }
    data = { ledger: opened, checkpoints };
    expect((await check()).all[0]?.what).to.contain(`anchors the ledger ${ID}, but it does not.`);
  });

  it("asks the contract that the ledger's id shows, whoever else emits an anchor of this ledger before", async () => {
    const [contract, stranger] = [`0x${"c1".repeat(20)}`, `0x${"c2".repeat(20)}`] as const;
    const id = ledgerId({
      chainId: 31_337,
      contract,
      writer: WRITER,
      guardian: WRITER,
      origin: opened.origin,
    });
    data = { ledger: opened, checkpoints: { nodes: [{ tx: TX }] } };
    const asked: string[] = [];
    const chain: Partial<LedgersChain> = {
      anchoredBy: async () => [stranger, contract],
      contractFault: async () => null,
      headOf: async (it) => {
        asked.push(it);
        return { size: 0, root: toHex(sha256(new Uint8Array())) };
      },
    };
    expect((await check({ id, records: [], chain })).all.map(({ holds }) => holds)).to.deep.equal([true]);
    expect(asked).to.deep.equal([contract]);
    // The ledger's own contract may have other code.
    const contractFault = async () => "Its code is another one.";
    expect((await check({ id, records: [], chain: { ...chain, contractFault } })).all).to.deep.equal([
      { holds: false, what: `The ledger ${id} is in no released contract. Its code is another one.` },
    ]);
  });

  it("finds each record that the log leaves out, changes or invents, by the entries under the anchored root", async () => {
    const contract = `0x${"c1".repeat(20)}` as const;
    const id = ledgerId({
      ...{ chainId: 31_337, contract, writer: WRITER, guardian: WRITER, origin: opened.origin },
    });
    data = { ledger: opened, checkpoints: { nodes: [{ tx: TX }] } };
    entries = new TestLedger();
    for (const type of ["listing", "settlement", "receipt"]) entries.append({ type });
    const [first = "", work = "", third = ""] = entries.entries.map(({ currentHash }) => currentHash);
    let head = { size: 3, root: entries.root() };
    const wrong = async (...records: [number, string][]): Promise<string[]> => {
      const chain: Partial<LedgersChain> = {
        anchoredBy: async () => [contract],
        contractFault: async () => null,
        headOf: async () => head,
      };
      const { all } = await check({ id, records, chain });
      return all.filter(({ holds }) => !holds).map(({ what }) => what.replace(id, "X"));
    };
    const lacks = (seq: number) => `The log leaves out, or changes, the records ${seq} of the ledger X.`;
    const invents = (seqs: string) =>
      `The log has records ${seqs} of the ledger X that the ledger does not have.`;
    expect(await wrong([0, first], [2, third])).to.deep.equal([]);
    expect(await wrong([0, first])).to.deep.equal([lacks(2)]);
    expect(await wrong([0, third], [2, third])).to.deep.equal([lacks(0)]);
    expect(await wrong([0, first], [2, third], [7, "aa"])).to.deep.equal([invents("7")]);
    // Generic work is no record, whatever record the log has at its place.
    for (const hash of ["aa", work])
      expect(await wrong([0, first], [1, hash], [2, third])).to.deep.equal([invents("1")]);
    head = { size: 3, root: entries.root(2) };
    expect((await wrong([0, first], [2, third]))[0]).to.contain(`the anchored root is ${entries.root(2)}`);
    head = { size: 4, root: entries.root() };
    expect(await wrong([0, first], [2, third])).to.have.length(1);
  });

  it("asks the released contract about a ledger that the node denies, or says that it did not ask", async () => {
    const contractFault = async (it: string) => (it === releasedLedgerAddress() ? null : "unknown");
    const headOf = async () => ({ size: 7, root: ZERO_HASH });
    for (const denial of [
      { ledger: null, checkpoints: { nodes: [] } },
      { ledger: opened, checkpoints: { nodes: [] } },
      { ledger: null, checkpoints: { nodes: [{ tx: TX }] } },
    ]) {
      data = denial;
      for (const chainId of [31_337, 8_453]) {
        const found = await check({
          records: [],
          chain: { contractFault, headOf, chainId: async () => chainId },
        });
        expect(found.all.map(({ holds }) => holds)).to.deep.equal([false]);
        expect(found.all[0]?.what).to.contain(`${releasedLedgerAddress()} has 7 entries of it`);
      }
      const onBase = await check({ records: [], chain: { contractFault, chainId: async () => 8_453 } });
      expect([onBase.all.map(({ holds }) => holds), onBase.unchecked]).to.deep.equal([[true], []]);
      for (const chain of [{}, { contractFault }, { chainId: async () => 8_453 }]) {
        const { all, unchecked } = await check({ records: [], chain });
        expect(all).to.deep.equal([]);
        expect(unchecked, JSON.stringify(denial)).to.have.length(1);
        expect(unchecked[0]).to.contain(`nothing of the ledger ${ID} is anchored`);
      }
    }
  });
});
