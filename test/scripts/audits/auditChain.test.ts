import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { AUTHORIZATION_USED, TRANSFER } from "../../../indexer/logPort/tokenLogs.ts";
import { type AuditChain, openAuditChain } from "../../../scripts/audits/auditChain.ts";

const address = (byte: string): Address => `0x${byte.repeat(20)}`;
const [TOKEN, OTHER, BUYER, SELLER] = ["70", "71", "b1", "5e"].map(address) as [
  Address,
  Address,
  Address,
  Address,
];
const TX = `0x${"aa".repeat(32)}` as const;
const word = (value: string): Hex => `0x${value.slice(2).padStart(64, "0")}`;

/** A log: of the token unless told otherwise. */
const log = (logIndex: number, topics: Hex[], { of = TOKEN, data = word("0x07") as Hex } = {}) => ({
  ...{ address: of, topics, data, logIndex: `0x${logIndex.toString(16)}`, removed: false },
  ...{ blockNumber: "0x5", blockHash: word("0x05"), transactionHash: TX, transactionIndex: "0x0" },
});
const paid = (logIndex: number, of = TOKEN) => log(logIndex, [TRANSFER, word(BUYER), word(SELLER)], { of });
const authorized = (logIndex: number, by = BUYER, of = TOKEN) =>
  log(logIndex, [AUTHORIZATION_USED, word(by), word("0x01")], { of, data: "0x" });

describe("the transfers of a transaction that a trusted chain tells", () => {
  let server: Server;
  let chain: AuditChain;
  /** The transaction's receipt; null if there is none. */
  let receipt: object | null;
  before(async () => {
    server = createServer(async (request, response) => {
      let text = "";
      for await (const piece of request) text += piece;
      const { id } = JSON.parse(text);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: receipt }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    chain = openAuditChain(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  after(() => {
    server?.closeAllConnections();
    server?.close();
  });

  const told = async (logs: object[], { status = "0x1", upTo = 5 } = {}) => {
    receipt = {
      ...{ transactionHash: TX, blockHash: word("0x05"), blockNumber: "0x5", transactionIndex: "0x0" },
      ...{ from: BUYER, to: TOKEN, contractAddress: null, type: "0x2", status, logs, logsBloom: "0x" },
      ...{ gasUsed: "0x1", cumulativeGasUsed: "0x1", effectiveGasPrice: "0x1" },
    };
    return await chain.transfers(TX, TOKEN, upTo);
  };
  const transfer = { block: 5, from: BUYER, to: SELLER, value: 7n };

  it("are those of the token, in a transaction that succeeded by the block that was asked for", async () => {
    const all = [paid(1), paid(2, OTHER), authorized(3), paid(9)];
    const plain = (at: number) => ({ ...transfer, log: at, authorized: false });
    expect(await told(all)).to.deep.equal([plain(1), plain(9)]);
    expect(await told(all, { upTo: 4 }), "after the log's end").to.deep.equal([]);
    expect(await told(all, { status: "0x0" }), "it failed").to.deep.equal([]);
    receipt = null;
    expect(await chain.transfers(TX, TOKEN, 5), "there is none").to.deep.equal([]);
  });

  it("are authorized only by the payer's own authorization in the token's log just before", async () => {
    const isAuthorized = async (...before: object[]) => (await told([...before, paid(6)]))[0]?.authorized;
    expect(await isAuthorized(authorized(5))).to.equal(true);
    for (const other of [authorized(4), authorized(7), authorized(5, SELLER), authorized(5, BUYER, OTHER)])
      expect(await isAuthorized(other), JSON.stringify(other)).to.equal(false);
  });
});
