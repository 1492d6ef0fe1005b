import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { defineParams } from "tallystick-protocol/records/params";
import { expectTokenOfEscrows } from "../../indexer/expectTokenOfEscrows.ts";

const TOKEN = `0x${"70".repeat(20)}` as const;
const OTHER = `0x${"0f".repeat(20)}` as const;
const ESCROW = `0x${"e5".repeat(20)}` as const;
const FAKE = `0x${"fa".repeat(20)}` as const;
const MISSING = `0x${"a1".repeat(20)}` as const;

describe("the escrows that a node follows", () => {
  const tokenOf: { [escrow: string]: string } = { [ESCROW]: TOKEN, [FAKE]: OTHER };
  let server: Server;
  let rpcUrl: string;

  before(async () => {
    server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      const { id, params } = JSON.parse(Buffer.concat(pieces).toString());
      const result = `0x${(tokenOf[params[0].to] ?? "0x").slice(2).padStart(64, "0")}`;
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: params[0].to in tokenOf ? result : "0x" }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const check = (...escrows: string[]) => {
    const params = defineParams({ escrows: Object.fromEntries(escrows.map((it) => [it, "provider"])) });
    return expectTokenOfEscrows({ rpcUrl, token: TOKEN, params });
  };

  it("may hold the node's token, and are named if they do not answer", async () => {
    expect(await check()).to.deep.equal([]);
    expect(await check(ESCROW)).to.deep.equal([]);
    expect(await check(ESCROW, MISSING)).to.deep.equal([MISSING]);
  });

  it("must not hold another token, whose amounts would count as the node's", async () => {
    const error = await check(ESCROW, MISSING, FAKE).catch((it) => it);
    expect(error).to.be.instanceOf(InvalidInputError);
    expect(error.issues).to.deep.equal([
      { field: "ESCROWS", message: `must not name ${FAKE}: it holds the token ${OTHER}, not ${TOKEN}` },
    ]);
  });
});
