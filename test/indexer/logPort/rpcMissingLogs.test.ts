import { expect } from "chai";
import { FakeChain, OTHER_TOKEN } from "./support/fakeChain.ts";
import type { RpcMessage } from "./support/rpcServer.ts";
import { ALICE, BOB, CALL, failure, pay, serveStory } from "./support/rpcStory.ts";

describe("the RPC source of token logs when a server misbehaves for a while", () => {
  const { chain, open, server, waits } = serveStory();

  describe("that has the header of a block, and not yet its logs", () => {
    /** Its first answers for logs are empty, also those without a filter. */
    const logsAfter = (empty: number, bloom?: string) => {
      let asked = 0;
      server.behave = () => ({
        edit: ({ method }, it) => {
          if (method === "eth_getLogs") return ++asked > empty ? it : [];
          return bloom === undefined ? it : { ...(it as object), logsBloom: bloom };
        },
      });
    };
    const FULL = `0x${"f".repeat(512)}`;
    const at = { block: 17, hash: chain.at(17).hash };
    const read = () => open().transfersFrom([BOB], at, CALL);

    it("waits for the logs", async () => {
      for (const empty of [1, 2, 3, 4]) {
        waits.length = 0;
        logsAfter(empty);
        expect(await read()).to.have.length(1);
        expect(waits, `after ${empty} empty answers`).to.deep.equal(
          [[], [250], [250], [250, 500]][empty - 1],
        );
      }
    });
    it("fails when they never come, and does not keep the empty block", async () => {
      const source = open();
      logsAfter(Number.POSITIVE_INFINITY);
      expect((await failure(source.blockLogs([at], CALL))).code).to.equal("source_logs_missing");
      expect(waits).to.have.length(5);
      logsAfter(0);
      const [logs] = await source.blockLogs([at], CALL);
      expect(logs?.transfers).to.have.length(3);
    });
    it("believes at once that there are none if the block's other logs explain its bloom", async () => {
      const other = new FakeChain([[{ ...pay(ALICE, BOB), token: OTHER_TOKEN }, { approver: ALICE }]]);
      server.reset(other);
      const blocks = [{ block: 1, hash: other.at(1).hash }];
      expect(await open().blockLogs(blocks, CALL)).to.deep.equal([{ transfers: [], authorizations: [] }]);
      expect(waits).to.deep.equal([]);
      server.behave = () => ({
        edit: ({ method }, it) => (method === "eth_getLogs" ? (it as unknown[]).slice(1) : it),
      });
      expect((await failure(open().blockLogs(blocks, CALL))).code).to.equal("source_logs_missing");
    });
    it("asks again after a pause if the list of all logs may be cut at a round number", async () => {
      const others = Array.from({ length: 1_000 }, () => ({ ...pay(ALICE, BOB), token: OTHER_TOKEN }));
      const crowded = new FakeChain([[...others, { approver: ALICE }]]);
      server.reset(crowded);
      const blocks = [{ block: 1, hash: crowded.at(1).hash }];
      const cutAt = (most: number) => {
        waits.length = 0;
        server.behave = () => ({
          edit: ({ method }, it) => (method === "eth_getLogs" ? (it as unknown[]).slice(0, most) : it),
        });
        return open().blockLogs(blocks, CALL);
      };
      expect(await cutAt(1_000)).to.deep.equal([{ transfers: [], authorizations: [] }]);
      expect(waits).to.deep.equal([250]);
      expect((await failure(cutAt(999))).code).to.equal("source_logs_missing");
    });
    it("asks again after a pause if the bloom is full or missing, or if no logs come without a filter", async () => {
      const empty = new FakeChain(
        Array(12).fill([{ ...pay(ALICE, BOB), token: OTHER_TOKEN }, { approver: ALICE }]),
      );
      const blocks = empty.blocks.slice(1).map(({ block, hash }) => ({ block, hash }));
      const none = blocks.map(() => ({ transfers: [], authorizations: [] }));
      for (const bloom of [FULL, "0x", undefined]) {
        waits.length = 0;
        server.reset(empty);
        logsAfter(0, bloom);
        if (bloom === undefined) {
          server.refuse = ({ method, params: [filter] }) =>
            method === "eth_getLogs" && !("address" in (filter as object))
              ? { code: -32602, message: "Please specify an address in your request" }
              : undefined;
        }
        expect(await open().blockLogs(blocks, CALL)).to.deep.equal(none);
        // One pause for each group of blocks.
        expect(waits, String(bloom)).to.deep.equal([250, 250]);
      }
      // Some providers refuse a question by the status of HTTP alone.
      waits.length = 0;
      server.reset(empty);
      logsAfter(0, undefined);
      server.behave = (messages) =>
        messages.some(
          ({ method, params: [filter] }) => method === "eth_getLogs" && !("address" in Object(filter)),
        )
          ? { status: 403, text: "Forbidden" }
          : undefined;
      expect(await open().blockLogs(blocks, CALL)).to.deep.equal(none);
      expect(waits).to.deep.equal([250, 250]);
      for (const bloom of [FULL, "0x"]) {
        server.reset(chain);
        logsAfter(2, bloom);
        expect(await read()).to.have.length(1);
      }
    });
  });
  describe("behind a gateway that always fails at logs without an address", () => {
    /** Blocks that may have transfers of the token by their bloom, and have none. */
    const others = (blocks: number) =>
      new FakeChain(Array(blocks).fill([{ ...pay(ALICE, BOB), token: OTHER_TOKEN }, { approver: ALICE }]));
    const placesOf = (of: FakeChain) => of.blocks.slice(1).map(({ block, hash }) => ({ block, hash }));
    const none = { transfers: [], authorizations: [] };
    const isAll = ({ method, params: [filter] }: RpcMessage) =>
      method === "eth_getLogs" && !("address" in Object(filter));
    const isReceipts = ({ method }: RpcMessage) => method === "eth_getBlockReceipts";
    const isReceipt = ({ method }: RpcMessage) => method === "eth_getTransactionReceipt";
    const failAt = (...kinds: ((message: RpcMessage) => boolean)[]) => {
      server.behave = (messages) =>
        messages.some((it) => kinds.some((isOf) => isOf(it))) ? { status: 502 } : undefined;
    };
    const asked = (isOf: (message: RpcMessage) => boolean) => server.requests.flat().filter(isOf).length;
    /** The pauses of one question that always fails. */
    const PAUSES = [250, 500, 1_000, 2_000, 4_000];

    for (const [what, fail, refuse] of [
      ["its receipts", [isAll], () => false],
      ["the receipts of its transactions, if the provider has no method for a block", [isAll], isReceipts],
      ["the receipts of its transactions, if the other method fails too", [isAll, isReceipts], () => false],
    ] as [string, ((message: RpcMessage) => boolean)[], (message: RpcMessage) => boolean][]) {
      it(`believes that a block has none by ${what}, and asks for them first from then on`, async () => {
        const chain = others(3);
        server.reset(chain);
        failAt(...fail);
        server.refuse = (message) =>
          refuse(message) ? { code: -32601, message: "the method does not exist" } : undefined;
        const source = open();
        expect(await source.blockLogs(placesOf(chain), CALL)).to.deep.equal([none, none, none]);
        expect(waits).to.deep.equal(fail.flatMap(() => PAUSES));
        expect(asked(isAll)).to.equal(6);
      });
    }
    it("tries the questions in their first order again after many blocks", async () => {
      const chain = others(300);
      server.reset(chain);
      failAt(isAll);
      const source = open();
      await source.blockLogs(placesOf(chain).slice(0, 20), CALL);
      const before = asked(isReceipts);
      server.behave = () => undefined;
      await source.blockLogs(placesOf(chain).slice(20), CALL);
      expect([before, asked(isReceipts)]).to.deep.equal([20, 257]);
    });
    it("finds in the receipts what it did not get by the filter", async () => {
      const { hash } = chain.at(17);
      failAt(isAll);
      const { behave } = server;
      server.behave = (messages, n) =>
        behave(messages, n) ?? { edit: ({ method }, it) => (method === "eth_getLogs" ? [] : it) };
      const [logs] = await open().blockLogs([{ block: 17, hash }], CALL);
      expect(logs?.transfers).to.have.length(3);
    });
    it("waits for receipts that do not explain the bloom yet", async () => {
      const chain = others(1);
      for (const [refused, empty] of [
        [() => false, []],
        [() => false, null],
        [isReceipts, null],
      ] as const) {
        server.reset(chain);
        failAt(isAll);
        server.refuse = (it) => (refused(it) ? { code: -32601, message: "no such method" } : undefined);
        const { behave } = server;
        let looks = 0;
        server.behave = (messages, n) =>
          behave(messages, n) ?? {
            edit: (it, result) => ((isReceipts(it) || isReceipt(it)) && ++looks < 3 ? empty : result),
          };
        expect(await open().blockLogs(placesOf(chain), CALL)).to.deep.equal([none]);
        expect(looks).to.be.above(2);
      }
    });
    for (const [what, isRefused] of [
      ["of the block", () => false],
      ["of its transactions", isReceipts],
    ] as const) {
      it(`waits for all receipts ${what}, although the others explain the bloom`, async () => {
        const bloomFromOthers = [
          { ...pay(ALICE, BOB), token: OTHER_TOKEN },
          { approver: ALICE },
          pay(ALICE, BOB),
        ];
        const chain = new FakeChain([bloomFromOthers]);
        server.reset(chain);
        failAt(isAll);
        server.refuse = (it) => (isRefused(it) ? { code: -32601, message: "no such method" } : undefined);
        const { behave } = server;
        const last = chain.at(1).transactions.at(-1);
        let looks = 0;
        server.behave = (messages, n) =>
          behave(messages, n) ?? {
            edit: (it, result) => {
              if (it.method === "eth_getLogs") return [];
              if (isReceipts(it) && ++looks < 3) return (result as unknown[]).slice(0, -1);
              return isReceipt(it) && it.params[0] === last && ++looks < 3 ? null : result;
            },
          };
        const [logs] = await open().blockLogs(placesOf(chain), CALL);
        expect([logs?.transfers.length, looks]).to.deep.equal([1, 3]);
      });
    }
    it("believes no receipt of another transaction", async () => {
      const chain = others(1);
      server.reset(chain);
      failAt(isAll, isReceipts);
      const { behave } = server;
      server.behave = (messages, n) =>
        behave(messages, n) ?? {
          edit: (it, result) =>
            isReceipt(it) ? { ...(result as object), transactionHash: `0x${"7e".repeat(32)}` } : result,
        };
      expect((await failure(open().blockLogs(placesOf(chain), CALL))).code).to.equal("source_bad_answer");
    });
    it("recognises that the block is gone, if a transaction is in another block now", async () => {
      const old = others(2);
      const forked = old.fork(1, [[{ approver: BOB }], []]);
      server.reset(old);
      failAt(isAll, isReceipts);
      const { behave } = server;
      server.behave = (messages, n) => {
        const failing = behave(messages, n);
        if (failing !== undefined) return failing;
        return messages.some(isReceipt)
          ? { edit: (_, it) => ({ ...(it as object), blockHash: forked.at(2).hash }) }
          : messages.some(({ method }) => method === "eth_getBlockByNumber")
            ? { node: { chain: forked, head: forked.head } }
            : undefined;
      };
      const at = { block: 2, hash: old.at(2).hash };
      expect((await failure(open().blockLogs([at], CALL))).code).to.equal("source_orphaned_block");
    });
    it("fails after a number of attempts, and names each method, if nothing gives a proof", async () => {
      const chain = others(1);
      server.reset(chain);
      failAt(isAll, isReceipts, isReceipt);
      const error = await failure(open({ attempts: 2 }).blockLogs(placesOf(chain), CALL));
      expect(error.code).to.equal("source_proof_missing");
      expect(error.message).to.match(
        /^rpc:127\.0\.0\.1:\d+: it gives no proof of the logs of block 1: eth_getLogs: it answered 502; eth_getBlockReceipts: it answered 502; eth_getTransactionReceipt: it answered 502$/,
      );
      expect(JSON.stringify(error) + error.message).not.to.contain("secret-key");
      // Two attempts at each of the three questions, after the first one.
      expect(server.requests).to.have.length(7);
    });
    it("believes a second empty answer if the bloom says nothing", async () => {
      const chain = others(1);
      server.reset(chain);
      failAt(isAll, isReceipts, isReceipt);
      const { behave } = server;
      server.behave = (messages, n) =>
        behave(messages, n) ?? {
          edit: ({ method }, it) =>
            method === "eth_getBlockByHash" ? { ...(it as object), logsBloom: `0x${"f".repeat(512)}` } : it,
        };
      expect(await open().blockLogs(placesOf(chain), CALL)).to.deep.equal([none]);
    });
  });
});
