import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { defineParams } from "tallystick-protocol/records/params";
import { expectTokenOfEscrows } from "../../indexer/expectTokenOfEscrows.ts";
import type { LogFields } from "../../indexer/ponderProcess.ts";

const TOKEN = `0x${"70".repeat(20)}` as const;
const OTHER = `0x${"0f".repeat(20)}` as const;
const ESCROW = `0x${"e5".repeat(20)}` as const;
const FAKE = `0x${"fa".repeat(20)}` as const;
const MUTE = `0x${"e0".repeat(20)}` as const;
const MISSING = `0x${"a1".repeat(20)}` as const;

type Fault = { status: number; text: string };

describe("the escrows that a node follows", () => {
  const tokenOf: { [escrow: string]: string } = { [ESCROW]: TOKEN, [FAKE]: OTHER };
  let server: Server;
  let rpcUrl: string;
  const process = globalThis as { PONDER_COMMON?: unknown };
  const warned: LogFields[] = [];
  /** What the RPC answers to its next questions, in place of the truth. */
  const faults: (() => Fault | Promise<undefined> | undefined)[] = [];

  const noCode = () => ({ status: 200, text: JSON.stringify({ jsonrpc: "2.0", id: 1, result: "0x" }) });
  const busy = () => ({ status: 503, text: "" });

  before(async () => {
    server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      const { id, method, params } = JSON.parse(Buffer.concat(pieces).toString());
      const fault = await faults.shift()?.();
      if (fault !== undefined) return response.writeHead(fault.status).end(fault.text);
      const tell = (result: string) => response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
      if (method === "eth_getCode") return tell(params[0] === MISSING ? "0x" : "0x60");
      const its = tokenOf[params[0].to];
      return tell(its === undefined ? "0x" : `0x${its.slice(2).padStart(64, "0")}`);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/KEY?key=KEY`;
    process.PONDER_COMMON = { logger: { warn: (fields: LogFields) => warned.push(fields) } };
  });
  beforeEach(() => {
    warned.length = 0;
  });
  after(() => {
    delete process.PONDER_COMMON;
    server.closeAllConnections();
    server.close();
  });

  const check = (...escrows: string[]) => {
    const params = defineParams({ escrows: Object.fromEntries(escrows.map((it) => [it, "provider"])) });
    return expectTokenOfEscrows(
      { rpcUrl, token: TOKEN, params },
      { signal: new AbortController().signal, pauses: [1, 1] },
    );
  };

  it("may hold the node's token, and are named if they are not deployed", async () => {
    expect(await check()).to.deep.equal([]);
    expect(await check(ESCROW)).to.deep.equal([]);
    expect(await check(ESCROW, MISSING)).to.deep.equal([MISSING]);
  });

  it("are not taken for missing ones if only some of the answers come from a node that lags behind", async () => {
    faults.push(noCode, noCode);
    expect(await check(ESCROW)).to.deep.equal([]);
    faults.push(noCode);
    expect(await check(FAKE).catch((it) => it.code)).to.equal("invalid_configuration");
    // The last attempt finds the contract, and not its token. So the contract is there.
    faults.push(noCode, noCode, () => undefined, busy);
    expect(await check(ESCROW).catch((it) => it.code)).to.equal("escrow_token_unknown");
    expect(faults).to.have.length(0);
  });

  it("are taken for missing ones if most answers say so, although the chain's node refuses some questions", async () => {
    for (const answers of [
      [noCode, busy, noCode],
      [busy, noCode, noCode],
      [noCode, noCode, busy],
    ]) {
      faults.push(...answers);
      expect(await check(MISSING)).to.deep.equal([MISSING]);
      expect(faults).to.have.length(0);
    }
    faults.push(noCode, busy, busy);
    expect(await check(MISSING).catch((it) => it.code)).to.equal("escrow_token_unknown");
    expect(faults).to.have.length(0);
  });

  it("are asked all at once, so that each missing one does not delay the others", async () => {
    let isAsked: () => void = () => {};
    const bothAsked = new Promise<void>((resolve) => {
      let asked = 0;
      isAsked = () => ++asked === 2 && resolve();
    });
    // No question gets its answer before the other one is asked.
    const late = () => {
      isAsked();
      return bothAsked.then(() => undefined);
    };
    faults.push(late, late);
    expect(await check(ESCROW, MISSING)).to.deep.equal([MISSING]);
  });

  it("are refused if nobody can read their token, and are asked again before that", async () => {
    const limited = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32_005, message: "too many" } });
    for (const fault of [
      { status: 503, text: "" },
      { status: 200, text: "" },
      { status: 200, text: "null" },
      { status: 200, text: "[]" },
      { status: 200, text: limited },
    ]) {
      faults.push(...[1, 2].map(() => () => fault));
      expect(await check(ESCROW), fault.text).to.deep.equal([]);
      faults.push(...[1, 2, 3].map(() => () => fault));
      const error = await check(ESCROW).catch((it) => it);
      expect(error, fault.text).to.include({ code: "escrow_token_unknown" });
      expect(error.message).to.equal(`The token of the escrow ${ESCROW} could not be read.`);
      expect(error.cause).to.be.a("string");
      expect(inspect(error, { depth: 9 }), "the error").not.to.contain("KEY");
      expect(faults).to.have.length(0);
    }
    expect(warned.length).to.equal(5 * 4);
    expect(JSON.stringify(warned)).not.to.contain("KEY");
    expect(await check(MUTE).catch((it) => it.code)).to.equal("escrow_token_unknown");
  });

  it("must not hold another token, whose amounts would count as the node's", async () => {
    const error = await check(ESCROW, MISSING, FAKE).catch((it) => it);
    expect(error).to.be.instanceOf(InvalidInputError);
    expect(error.issues).to.deep.equal([
      { field: "ESCROWS", message: `must not name ${FAKE}: it holds the token ${OTHER}, not ${TOKEN}` },
    ]);
  });
});
