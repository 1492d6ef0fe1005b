import { expect } from "chai";
import { FakeChain } from "./support/fakeChain.ts";
import type { RpcMessage } from "./support/rpcServer.ts";
import { ALICE, BOB, CALL, failure, pay, serveStory } from "./support/rpcStory.ts";

describe("the RPC source of token logs when a server's fault does not end", () => {
  const { chain, open, server, whole } = serveStory();

  it("fails after a number of attempts, with the host's name and without a key", async () => {
    server.behave = () => ({ status: 503 });
    const error = await failure(open({ attempts: 3 }).transfersTo([ALICE], whole, CALL));
    expect(error.code).to.equal("source_unavailable");
    expect(error.message).to.match(/^rpc:127\.0\.0\.1:\d+: eth_getBlockByNumber: it answered 503/);
    expect(JSON.stringify(error) + error.message + error.stack).not.to.contain("secret-key");
    expect(server.requests).to.have.length(3);
  });
  it("fails at once when the key is wrong", async () => {
    server.behave = () => ({ status: 401 });
    expect((await failure(open().transfersTo([ALICE], whole, CALL))).code).to.equal("source_refused");
    expect(server.requests).to.have.length(1);
  });
  it("ends with its deadline, and with the caller's signal", async () => {
    server.behave = () => ({ hang: true });
    const late = await failure(open().transfersTo([ALICE], whole, { ...CALL, deadlineMs: 30 }));
    expect(late.code).to.equal("source_deadline");
    const controller = new AbortController();
    const ended = failure(open().transfersTo([ALICE], whole, { ...CALL, signal: controller.signal }));
    controller.abort(new Error("the node shuts down"));
    expect((await ended).message).to.equal("the node shuts down");
  });
  it("never trusts a node without the history, or one without the head", async () => {
    server.reset(chain, { keepsFrom: 1 });
    expect((await failure(open().transfersTo([ALICE], { from: 60, to: 70 }, CALL))).code).to.equal(
      "source_history_missing",
    );
    server.reset(chain, { keepsFrom: 50 });
    expect((await failure(open().transfersTo([ALICE], whole, CALL))).code).to.equal("source_history_missing");
    const found = chain.at(2).transactions[0]!;
    expect((await failure(open().transactionLogs(found, 99, CALL))).code).to.equal("source_history_missing");
    server.reset(chain, { head: 50 });
    expect((await failure(open().transfersTo([ALICE], whole, CALL))).code).to.equal("source_behind");
    expect((await failure(open().transactionLogs(found, 99, CALL))).code).to.equal("source_behind");
    expect((await failure(open().headers([3, 99], CALL))).code).to.equal("source_behind");
  });
  it("notices that the history is missing also if the chain begins with empty blocks", async () => {
    const emptied = (_: RpcMessage, it: unknown) => {
      const header = it as { number?: string } | null;
      return Number(header?.number) < 30 ? { ...header, transactions: [] } : it;
    };
    const whole = { from: 30, to: 100 };
    server.reset(chain);
    server.behave = () => ({ edit: emptied });
    expect(await open().transfersTo([BOB], whole, CALL)).to.deep.equal(
      chain.find({ kind: "transfersTo", wallets: [BOB] }, whole),
    );
    server.behave = () => ({ edit: emptied, node: { keepsFrom: 50 } });
    expect((await failure(open().transfersTo([BOB], whole, CALL))).code).to.equal("source_history_missing");
  });
  it("does not believe that a token with a supply has no transfers", async () => {
    server.behave = () => ({ edit: ({ method }, it) => (method === "eth_getLogs" ? [] : it) });
    expect((await failure(open().transfersTo([ALICE], whole, CALL))).code).to.equal("source_history_missing");
    // A token without a supply may have no transfers.
    server.reset(new FakeChain([[], []]));
    expect(await open().transfersTo([ALICE], { from: 0, to: 2 }, CALL)).to.deep.equal([]);
  });
  it("distinguishes an orphaned block from one that does not exist yet", async () => {
    const forked = chain.fork(90, [[], [pay(ALICE, BOB)]]);
    const { hash } = forked.at(92);
    const orphaned = await failure(open().transfersTo([BOB], { block: 92, hash }, CALL));
    expect(orphaned.code).to.equal("source_orphaned_block");
    server.reset(chain, { head: 91 });
    expect((await failure(open().transfersTo([BOB], { block: 92, hash }, CALL))).code).to.equal(
      "source_behind",
    );
  });
  it("refuses a chain above finality that does not begin at the final block", async () => {
    const forked = chain.fork(
      80,
      Array.from({ length: 20 }, () => [pay(ALICE, BOB)]),
    );
    server.reset(chain, { finality: 10 });
    server.behave = (messages) =>
      messages.some(({ params }) => params[0] === "finalized") ? undefined : { node: { chain: forked } };
    const error = await failure(open().transfersTo([BOB], { from: 91, to: 100 }, CALL));
    expect(error.code).to.equal("source_orphaned_block");
  });
  it("refuses headers that are not of one chain", async () => {
    const forked = chain.fork(49, [[], [], []]);
    server.behave = () => ({
      edit: (_, it) =>
        (it as { number: string }).number === "0x33"
          ? { ...(it as object), parentHash: forked.at(50).hash }
          : it,
    });
    expect((await failure(open().headers([50, 51], CALL))).code).to.equal("source_orphaned_block");
  });
});
