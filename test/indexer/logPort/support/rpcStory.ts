import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { Call, SourceRequest } from "../../../../indexer/logPort/logPort.ts";
import { createRpcSource, type RpcSourceOptions } from "../../../../indexer/logPort/rpc/createRpcSource.ts";
import { FakeChain, OTHER_TOKEN, TOKEN, type Written, wallet, ZERO } from "./fakeChain.ts";
import { createRpcServer, type RpcMessage } from "./rpcServer.ts";

export const [ALICE, BOB, CAROL] = [wallet(1), wallet(2), wallet(3)];
export const CALL: Call = { signal: new AbortController().signal, deadlineMs: 120_000 };

export const pay = (from: Address, to: Address, value = 1n): Written => ({ from, to, value });
const use = (authorizer: Address, n: number): Written => ({
  authorizer,
  nonce: `0x${n.toString(16).padStart(64, "0")}`,
});

/** A hundred blocks: a mint, transfers among three wallets, and transfers of other wallets and of another token. */
const story = () =>
  new FakeChain([
    [pay(ZERO, ALICE, 1_000n)],
    ...Array.from({ length: 99 }, (_, n): Written[] => [
      pay(wallet(100 + n), wallet(200 + n)),
      ...(n % 3 === 0 ? [use(ALICE, n), pay(ALICE, BOB, 2n)] : []),
      ...(n % 5 === 0 ? [{ ...pay(BOB, CAROL), token: OTHER_TOKEN }, pay(BOB, CAROL)] : []),
      ...(n % 7 === 0 ? [pay(CAROL, CAROL)] : []),
    ]),
  ]);

/** The number of blocks, the last block and the number of wallets in a question for logs. */
export function rangeOf(message: RpcMessage) {
  const { fromBlock, toBlock, topics } = message.params[0] as {
    fromBlock: string;
    toBlock: string;
    topics: unknown[];
  };
  const topic = topics
    .slice(1)
    .flat()
    .filter((it) => it !== null);
  return { blocks: Number(toBlock) - Number(fromBlock) + 1, to: Number(toBlock), wallets: topic.length };
}

/** Serves the story, and opens sources that read it. Call it inside of `describe`. Each test begins without faults. */
export function serveStory() {
  const chain = story();
  const server = createRpcServer(chain);
  const waits: number[] = [];
  const counted: SourceRequest[] = [];
  before(() => server.listen());
  after(() => server.close());
  beforeEach(() => {
    server.reset(chain);
    waits.length = 0;
    counted.length = 0;
  });
  return {
    chain,
    server,
    /** The pauses of the sources. */
    waits,
    whole: { from: 0, to: chain.head },
    open: (more: Partial<RpcSourceOptions> = {}) =>
      createRpcSource({
        url: server.url,
        token: TOKEN,
        firstBlock: 0,
        maxBlocks: 16,
        sleep: async (milliseconds) => void waits.push(milliseconds),
        onRequest: (request) => counted.push(request),
        ...more,
      }),
    /** The number of requests that ended like this. */
    outcomes: (outcome: string) => counted.filter((it) => it.outcome === outcome).length,
  };
}

/** The error of work that must fail. */
export async function failure(work: Promise<unknown>) {
  const error = await work.then(
    (value) =>
      expect.fail(`answered ${JSON.stringify(value, (_, it) => (typeof it === "bigint" ? `${it}` : it))}`),
    (error) => error,
  );
  return error as Error & { code: string; field?: string };
}
