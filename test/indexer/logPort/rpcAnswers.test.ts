import { expect } from "chai";
import { OTHER_TOKEN } from "./support/fakeChain.ts";
import { BOB, CALL, CAROL, failure, serveStory } from "./support/rpcStory.ts";

describe("the RPC source of token logs does not accept", () => {
  const { chain, open, server } = serveStory();

  type Edit = (log: { [field: string]: unknown; topics: string[] }, all: unknown[]) => unknown;
  const wrong: { [what: string]: [field: RegExp, edit: Edit] } = {
    "a log of another address": [/address/, (log) => ({ ...log, address: OTHER_TOKEN })],
    "a log of another event": [
      /topics\[0\]/,
      (log) => ({ ...log, topics: [`0x${"11".repeat(32)}`, ...log.topics.slice(1)] }),
    ],
    "a log of a wallet not asked for": [
      /\.to is a wallet/,
      (log) => ({ ...log, topics: [log.topics[0], log.topics[1], log.topics[1]] }),
    ],
    "a log outside of the range": [/\.block must be/, (log) => ({ ...log, blockNumber: "0x3e" })],
    "a topic that is not an address": [
      /topics\[1\]/,
      (log) => ({ ...log, topics: [log.topics[0], `0x01${log.topics[1]?.slice(4)}`, log.topics[2]] }),
    ],
    "topics that are too few": [/topics must be 3/, (log) => ({ ...log, topics: log.topics.slice(0, 2) })],
    "topics that are no list": [/topics must be a list/, (log) => ({ ...log, topics: "0x" })],
    "a value of another size": [/data must be 32 bytes/, (log) => ({ ...log, data: `${log.data}00` })],
    "a value that is a number": [/data must be 32 bytes/, (log) => ({ ...log, data: 5 })],
    "a block number that is not a quantity": [
      /blockNumber must be a quantity/,
      (log) => ({ ...log, blockNumber: 5 }),
    ],
    "a block number beyond all numbers": [
      /blockNumber must be a quantity/,
      (log) => ({ ...log, blockNumber: `0x${"f".repeat(20)}` }),
    ],
    "a log index that is missing": [/logIndex must be a quantity/, ({ logIndex: _, ...log }) => log],
    "a transaction hash that is short": [
      /transactionHash must be 32 bytes/,
      (log) => ({ ...log, transactionHash: "0x12" }),
    ],
    "a time that is not a time": [/blockTimestamp/, (log) => ({ ...log, blockTimestamp: "now" })],
    "a log that was removed": [/removed/, (log) => ({ ...log, removed: true })],
    "an invalid log": [/must be an object/, () => null],
  };
  for (const [what, [field, edit]] of Object.entries(wrong)) {
    it(what, async () => {
      server.behave = () => ({
        edit: ({ method, params }, it) => {
          const asked = params[0] as { topics?: unknown[] };
          if (method !== "eth_getLogs" || asked.topics?.length === 1) return it;
          return (it as { [field: string]: unknown; topics: string[] }[]).map((log, n, all) =>
            n === 0 ? edit(log, all) : log,
          );
        },
      });
      const error = await failure(open().transfersTo([BOB], { from: 10, to: 30 }, CALL));
      expect(error.code).to.equal("source_bad_answer");
      expect(error.message).to.match(field);
      expect(error.field).to.be.a("string");
    });
  }
  it("a repeated log, an invalid list, or a header of another block", async () => {
    const only = (edit: (it: unknown) => unknown, wanted: string) => {
      server.behave = () => ({
        edit: ({ method, params }, it) =>
          method === wanted && (params[0] as { topics?: unknown[] }).topics?.length !== 1 ? edit(it) : it,
      });
      return failure(open().transfersTo([BOB], { from: 10, to: 30 }, CALL));
    };
    const twice = await only((it) => [...(it as unknown[]), ...(it as unknown[])], "eth_getLogs");
    expect(twice.message).to.match(/comes twice/);
    expect((await only(() => ({}), "eth_getLogs")).message).to.match(/must be a list/);
    const other = await only((it) => ({ ...(it as object), number: "0x5" }), "eth_getBlockByNumber");
    expect(other.code).to.equal("source_bad_answer");
  });
  it("a log of another block in an answer for one block", async () => {
    const { hash } = chain.at(16);
    server.behave = () => ({
      edit: ({ method }, it) =>
        method === "eth_getLogs" ? (it as object[]).map((log) => ({ ...log, blockNumber: "0x3" })) : it,
    });
    expect((await failure(open().transfersTo([CAROL], { block: 16, hash }, CALL))).code).to.equal(
      "source_bad_answer",
    );
  });
  it("a receipt of another transaction", async () => {
    const [tx, other] = [chain.at(16).transactions[0]!, chain.at(17).transactions[0]!];
    server.behave = (messages) =>
      messages[0]?.method === "eth_getTransactionReceipt"
        ? {
            edit: ({ method }, it) =>
              method === "eth_getTransactionReceipt" ? { ...(it as object), transactionHash: other } : it,
          }
        : undefined;
    expect((await failure(open().transactionLogs(tx, 99, CALL))).message).to.match(/transactionHash must be/);
  });
});
