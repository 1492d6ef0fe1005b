import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { readHeads } from "../../portal/chain/readHeads.ts";
import { sourceChecks } from "../../portal/verify/verifyHead.ts";

const place = { chainId: 8_453, contract: `0x${"c0".repeat(20)}`, ledger: `0x${"1e".repeat(32)}` };
const word = (digit: string) => digit.repeat(64);

/** What a source says about its newest block, the contract's code, and the ledger's head in this block. */
type Said = { tip: number; code: string; head: string };

/** The root, the size, the time and the number of anchors. */
const head = [word("a"), "1111".padStart(64, "0"), "1".padStart(64, "0"), "1".padStart(64, "0")].join("");
const HONEST: Said = { tip: 5_000, code: "0x60", head: `0x${head}` };

/** The selector of `head(bytes32)`. */
const HEAD = toHex(keccak_256(utf8ToBytes("head(bytes32)"))).slice(0, 10);

describe("heads read from two sources", () => {
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) server.close().closeAllConnections();
  });

  /** A JSON-RPC server. Before block 4,000 its chain has no contract. */
  const source = async (said: Said, from = 4_000): Promise<string> => {
    const server = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk;
      const { method, params } = JSON.parse(text) as { method: string; params: unknown[] };
      const isThere = Number(params[1] ?? 0) >= from;
      const answers: { [method: string]: unknown } = {
        eth_chainId: "0x2105",
        eth_blockNumber: `0x${said.tip.toString(16)}`,
        eth_getBlockByNumber: { hash: `0x${word("b")}`, timestamp: "0x3e8" },
        eth_getCode: isThere ? said.code : "0x",
        eth_call: isThere
          ? String(Object(params[0]).data).startsWith(HEAD)
            ? said.head
            : `0x${word("0")}`
          : "0x",
      };
      response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: answers[method] }));
    });
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };
  const read = async (one: string, other: string) =>
    sourceChecks(await readHeads([one, other], place, null, AbortSignal.timeout(120_000)));

  it("are one head if both sources say the same about the same block", async () => {
    const { checks, head } = await read(await source(HONEST), await source({ ...HONEST, tip: 5_020 }));
    expect(checks.map(({ state }) => state)).to.deep.equal(["yes"]);
    expect(head).to.deep.include({ size: 0x1111, anchors: 1, blockTime: 1_000, code: "unknown" });
  });

  it("are refused if one source names a very old block, in which the honest source has an old head or no contract", async () => {
    const honest = await source(HONEST);
    // A source cannot win by naming a slightly older block, from before the contract was deployed.
    for (const [tip, from] of [
      [4_099, 0],
      [4_101, 4_100],
    ] as const) {
      const told = await source({ ...HONEST, tip, head: HONEST.head.replaceAll("a", "d") }, 0);
      const { checks, head } = await read(from === 0 ? honest : await source(HONEST, 4_200), told);
      expect(head, `${tip}`).to.equal(null);
      expect(checks.map(({ state }) => state)).to.deep.equal(["no"]);
    }
  });

  it("say that there is no contract, and which source says so if the sources differ", async () => {
    const none = await source(HONEST, 6_000);
    const { head } = await read(none, none);
    expect(head).to.deep.include({ code: "none", anchors: 0 });
    const { checks } = await read(none, await source(HONEST));
    expect(checks.map(({ state }) => state)).to.deep.equal(["no"]);
    expect(checks[0]?.detail).to.match(
      /says: no contract, block 0x.* says: 4,369 entries, .* of unknown code/,
    );
  });

  it("are refused if one source names a block that nobody has yet", async () => {
    const { head } = await read(await source(HONEST), await source({ ...HONEST, tip: 10 ** 9 }));
    expect(head).to.equal(null);
  });
});
