import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { checkLedgers } from "../../../scripts/audits/checkLedgers.ts";
import { Findings } from "../../../scripts/audits/findings.ts";

const ID = `0x${"1e".repeat(32)}`;
const WRITER = `0x${"a1".repeat(20)}`;
const TX = `0x${"b2".repeat(32)}`;

describe("the check of a log's ledgers, by what the node says of their opening", () => {
  let server: ReturnType<typeof serve>;
  let url: string;
  let data: unknown;
  before(async () => {
    server = serve({ fetch: () => Response.json({ data }), port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server?.close());

  /** Checks a log with one record. The chain knows no anchor. */
  const check = async (): Promise<Findings> => {
    const found = new Findings();
    const log = { params: { ledgers: { [ID]: [] } }, records: new Map([[ID, [[0, "aa"]]]]), lastBlock: 1 };
    await checkLedgers(url, log as never, { contractOf: async () => null } as never, found);
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
});
