import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { defineParams } from "tallystick-protocol/records/params";
import { expectStartBeforeContracts } from "../../indexer/expectStartBeforeContracts.ts";

const ESCROW = `0x${"e5".repeat(20)}` as const;
const LEDGER = `0x${"1e".repeat(20)}` as const;

describe("the first block that a node reads", () => {
  /** The blocks in which the contracts were deployed. The chain's node has no state of blocks before `keepsFrom`. */
  const deployed = new Map<string, number>([
    [ESCROW, 20],
    [LEDGER, 10],
  ]);
  let keepsFrom = 0;
  /** What the chain's node answers in place of a code. */
  let odd: unknown;
  let server: Server;
  let rpcUrl: string;

  before(async () => {
    server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      const { id, params } = JSON.parse(Buffer.concat(pieces).toString());
      const [address, block] = [String(params[0]), Number(params[1])];
      const code = block >= (deployed.get(address) ?? 0) ? "0x6001" : "0x";
      const answer =
        block < keepsFrom
          ? { error: { code: -32000, message: "missing trie node" } }
          : { result: odd === undefined ? code : odd };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const params = defineParams({ escrows: { [ESCROW]: "provider" } });
  const check = (startBlock: number) =>
    expectStartBeforeContracts({ rpcUrl, startBlock, params, anchoredLedger: LEDGER, registries: null });

  it("may be the block of the first contract, or an earlier one", async () => {
    for (const block of [0, 1, 9, 10]) expect(await check(block)).to.deep.equal([]);
  });

  it("is refused when a contract existed before it, and the error names the contract", async () => {
    const error = await check(11).catch((it) => it);
    expect(error).to.be.instanceOf(InvalidInputError);
    expect(error.code).to.equal("start_block_too_late");
    expect(error.issues).to.deep.equal([
      { field: "START_BLOCK", message: `must be earlier: the ledger contract ${LEDGER} was there before` },
    ]);
    expect((await check(21).catch((it) => it)).issues).to.have.length(2);
  });

  it("is not refused if the RPC has no state that is so old, and the contracts that were not checked are reported", async () => {
    keepsFrom = 100;
    try {
      expect(await check(21)).to.deep.equal([ESCROW, LEDGER]);
    } finally {
      keepsFrom = 0;
    }
  });

  it("is not taken for early enough because of an answer that is no code", async () => {
    for (odd of [null, [], {}, "", "0x0", "no code", 7]) {
      expect(await check(21), JSON.stringify(odd)).to.deep.equal([ESCROW, LEDGER]);
    }
    odd = undefined;
  });
});
