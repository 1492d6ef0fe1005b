import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { checkCompleteness, type Verified } from "../../../indexer/logPort/completeness/checkCompleteness.ts";
import type { Call } from "../../../indexer/logPort/logPort.ts";
import { createPortalSource } from "../../../indexer/logPort/portal/createPortalSource.ts";
import { createRpcSource } from "../../../indexer/logPort/rpc/createRpcSource.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { FakeChain, TOKEN, wallet, ZERO } from "./support/fakeChain.ts";
import { answerOf, type RpcMessage } from "./support/rpcServer.ts";

const CALL: Call = { signal: new AbortController().signal, deadlineMs: 60_000 };

/**
 * The number of blocks since USDC was deployed on Base, in block 2,797,221. They are the blocks of more than three
 * years, one every two seconds.
 */
const BASE_BLOCKS = 51_500_000;
/**
 * The test divides the number of blocks by this. The numbers of requests that depend on blocks grow in proportion to
 * them.
 */
const SCALE = 100;
const [RANGE, WALLETS, PER_PORTAL_REQUEST, PER_BATCH] = [10_000, 1_000, 3_000, 20];

const requestsFor = {
  rpc: (agents: number, blocks: number) => Math.ceil(blocks / RANGE) * Math.ceil(agents / WALLETS),
  portal: (agents: number) => Math.ceil(agents / PER_PORTAL_REQUEST),
  headers: (blocks: number) => Math.ceil(blocks / PER_BATCH),
};

/** A chain with any number of blocks, and with one transfer at its beginning. */
class LongChain {
  readonly requests: RpcMessage[][] = [];
  readonly portalRequests: { toBlock: number; fromBlock: number }[] = [];
  readonly #start = new FakeChain([[{ from: ZERO, to: wallet(0), value: 0n }]]);
  readonly head: number;
  constructor(head: number) {
    this.head = head;
  }

  hash = (block: number) => `0x${block.toString(16).padStart(64, "0")}`;

  /** Answers like a server, but without a socket. The requests are the same. */
  rpc = (async (_: string, { body }: { body: string }) => {
    const asked: RpcMessage | RpcMessage[] = JSON.parse(body);
    const messages = [asked].flat();
    this.requests.push(messages);
    const replies = messages.map((message) => ({
      jsonrpc: "2.0",
      id: message.id,
      result: this.#answer(message),
    }));
    return Response.json(Array.isArray(asked) ? replies : replies[0]);
  }) as unknown as typeof fetch;

  #answer(message: RpcMessage): unknown {
    const { method, params } = message;
    const isHeader = method === "eth_getBlockByNumber";
    const block = params[0] === "finalized" ? this.head : Number(params[0]);
    if (isHeader && block > 1) {
      const [hash, parentHash] = [this.hash(block), this.hash(block - 1)];
      return {
        number: this.#hex(block),
        hash,
        parentHash,
        timestamp: this.#hex(1_700_000_000 + 2 * block),
        transactions: [],
      };
    }
    if (method === "eth_call") return this.hash(0);
    const node = { chain: this.#start, head: 1, finality: 0, keepsFrom: 0, tellsTime: true };
    return (answerOf(node, message) as { result: unknown }).result;
  }

  #hex = (value: number) => `0x${value.toString(16)}`;

  portal = (async (_: string, { body }: { body: string }) => {
    const query = JSON.parse(body);
    this.portalRequests.push(query);
    const lines = [...new Set([query.fromBlock, query.toBlock])].map((number) =>
      JSON.stringify({ header: { number, hash: this.hash(number), timestamp: number } }),
    );
    return new Response(lines.join("\n"));
  }) as unknown as typeof fetch;
}

describe("the requests for a number of agents on Base", () => {
  const blocks = BASE_BLOCKS / SCALE;
  const wallets = (count: number): Address[] => Array.from({ length: count }, (_, n) => wallet(n));
  const open = () => {
    const chain = new LongChain(blocks);
    const rpc = createRpcSource({ url: "http://rpc.local", token: TOKEN, firstBlock: 1, fetch: chain.rpc });
    const portal = createPortalSource({ url: "http://portal.local", token: TOKEN, fetch: chain.portal });
    return { chain, rpc, portal };
  };
  const whole = { from: 1, to: blocks };

  for (const agents of [100, 1_000, 10_000]) {
    it(`are as many as the table says for ${agents}`, async () => {
      const { chain, rpc, portal } = open();
      // Three values are read only once: the head, the token's first transaction and its first transfer.
      await rpc.transfersTo([wallet(0)], { from: 1, to: 1 }, CALL);
      const once = chain.requests.length;
      expect(once).to.be.at.most(4);
      await rpc.transfersTo(wallets(agents), whole, CALL);
      const history = chain.requests.slice(once);
      expect(history).to.have.length(requestsFor.rpc(agents, blocks));
      expect(history.every((messages) => messages.length === 3)).to.equal(true);
      await portal.history({ kind: "transfersTo", wallets: wallets(agents) }, whole, CALL);
      expect(chain.portalRequests).to.have.length(requestsFor.portal(agents));
      const before = chain.requests.length;
      await rpc.headers(
        wallets(agents).map((_, n) => 2 + 3 * n),
        CALL,
      );
      expect(chain.requests.length - before).to.equal(requestsFor.headers(agents));
    });
  }

  it("of a completeness check are few when all wallets were verified before", async () => {
    const { chain, rpc } = open();
    const at = { block: blocks, hash: chain.hash(blocks) as `0x${string}` };
    const verified = new Map<Address, Verified>(
      wallets(10_000).map((it) => [it, { block: blocks - 15_000, balance: 0n }]),
    );
    await rpc.finalizedHead(CALL);
    await rpc.transfersTo([wallet(0)], { from: 1, to: 1 }, CALL);
    const before = chain.requests.length;
    const options = {
      port: rpc,
      balances: rpc,
      firstBlock: 1,
      watched: wallets(10_000),
      round: 3,
      rounds: 100,
      hubTransfers: 10_000,
    };
    const { checked, gaps } = await checkCompleteness({ ...options, at, verified }, CALL);
    expect([checked.length, gaps.length]).to.deep.equal([100, 0]);
    expect(chain.requests.length - before).to.equal(9);
  });

  it("are in docs/operators.md with the same numbers", () => {
    const docs = readFileSync(path.join(repositoryRoot, "docs/operators.md"), "utf8");
    const counts = [100, 1_000, 10_000];
    const row = (numbers: number[]) => `| ${numbers.map((it) => it.toLocaleString("en")).join(" | ")} |`;
    expect(docs).to.contain(row(counts.map((it) => requestsFor.rpc(it, BASE_BLOCKS))));
    expect(docs).to.contain(row(counts.map((it) => requestsFor.portal(it))));
    expect(docs).to.contain(row(counts.map((it) => requestsFor.headers(it * 100))));
  });
});
