import { expect } from "chai";
import { zeroAddress } from "viem";
import { readLedgerOnChain } from "../../../services/settlement/anchoring/readLedgerOnChain.ts";

const CONTRACT = `0x${"cd".repeat(20)}` as const;
const ID = `0x${"ab".repeat(32)}` as const;
const ADA = `0x${"Aa".repeat(20)}` as const;
const ada = `0x${"aa".repeat(20)}` as const;
const bob = `0x${"bb".repeat(20)}` as const;
const headAt = (size: bigint) => ({ root: `0x${"12".repeat(32)}`, size, time: 9n, seq: 2n });

describe("a ledger that is read from its contract", () => {
  let asked: string[];
  /** What the contract says; `heads` by block. */
  let says: {
    chain: number;
    block: bigint;
    writer: string;
    heads: { [block: string]: bigint };
    marked: boolean;
    announced: readonly [string, bigint, boolean];
    former: readonly [bigint, bigint];
  };
  beforeEach(() => {
    asked = [];
    says = {
      ...{ chain: 7, block: 100n, writer: ADA, heads: { 100: 5n, 97: 4n }, marked: false },
      ...{ announced: [zeroAddress, 0n, false], former: [0n, 0n] },
    };
  });
  const read = (confirmations = 3, asker?: `0x${string}`) => {
    const client = {
      getChainId: async () => says.chain,
      getBlock: async ({ blockTag }: { blockTag: string }) => {
        expect(blockTag).to.equal("latest");
        return { number: says.block, timestamp: 1_000n };
      },
      readContract: async (call: {
        address: string;
        functionName: string;
        args: unknown[];
        blockNumber: bigint;
      }) => {
        const { functionName, args, blockNumber } = call;
        expect([call.address, args[0]]).to.deep.equal([CONTRACT, ID]);
        asked.push(`${functionName} ${blockNumber}${args.length > 1 ? ` ${args[1]}` : ""}`);
        if (functionName === "writerOf") return says.writer;
        if (functionName === "isEquivocated") return says.marked;
        if (functionName === "announcedWriter") return says.announced;
        if (functionName === "formerWriter") return says.former;
        const size = says.heads[String(blockNumber)];
        if (size === undefined) throw new Error("no such state");
        return headAt(size);
      },
    };
    return readLedgerOnChain({
      ...{ client: client as never, chainId: 7, contract: CONTRACT, ledgerId: ID, confirmations },
      ...(asker && { asker }),
    });
  };

  it("has its writer, head and confirmed head, all of them of one block", async () => {
    expect(await read()).to.deep.equal({
      block: { number: 100n, time: 1_000n },
      ledger: { writer: ada, head: headAt(5n), isEquivocated: false, announced: null, formerSize: null },
      confirmed: headAt(4n),
    });
    expect(asked.sort()).to.deep.equal([
      ...["announcedWriter 100", "head 100", "head 97", "isEquivocated 100", "writerOf 100"],
    ]);
  });

  it("is not there if nobody has opened it", async () => {
    says.writer = zeroAddress;
    expect(await read()).to.deep.equal({
      ...{ block: { number: 100n, time: 1_000n }, ledger: undefined, confirmed: undefined },
    });
    expect(asked).to.deep.equal(["writerOf 100"]);
  });

  it("is confirmed at once without confirmations, and not at all before the chain has as many blocks", async () => {
    expect((await read(0)).confirmed).to.deep.equal(headAt(5n));
    expect(asked.filter((one) => one.startsWith("head"))).to.deep.equal(["head 100"]);
    expect((await read(2)).confirmed, "the node lacks the state").to.equal(undefined);
    says.block = 2n;
    says.heads = { 2: 1n, 0: 0n };
    expect((await read(3)).confirmed).to.equal(undefined);
    expect(asked.at(-1)).not.to.contain("-1");
    expect((await read(2)).confirmed).to.deep.equal(headAt(0n));
  });

  it("is not read in part if the node lacks the state of its latest block", async () => {
    says.heads = {};
    expect(await read().catch(({ message }) => message)).to.equal("no such state");
  });

  it("says who is announced, whether it is marked, and up to where the asker wrote it", async () => {
    says.announced = [`0x${"Bb".repeat(20)}`, 777n, true];
    says.marked = true;
    says.former = [3n, 1n];
    const { ledger } = await read(3, bob);
    expect(ledger).to.deep.include({
      ...{ announced: { next: bob, readyAt: 777n, halted: true }, isEquivocated: true, formerSize: 3n },
    });
    expect(asked).to.include(`formerWriter 100 ${bob}`);
    says.former = [3n, 0n];
    expect((await read(3, bob)).ledger?.formerSize).to.equal(null);
    asked = [];
    says.former = [3n, 1n];
    // The present writer is no former one.
    expect((await read(3, ada)).ledger?.formerSize).to.equal(null);
    expect(asked.filter((one) => one.startsWith("formerWriter"))).to.deep.equal([]);
  });

  it("is refused from another chain", async () => {
    says.chain = 8;
    expect(await read().catch((error) => error)).to.include({
      ...{ code: "wrong_chain", message: "RPC_URL leads to chain 8, not to chain 7." },
      hint: "Set CHAIN_ID and RPC_URL to the same chain.",
    });
    expect(asked).to.deep.equal([]);
  });
});
