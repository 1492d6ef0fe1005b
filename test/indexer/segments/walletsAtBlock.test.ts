import { expect } from "chai";
import type { CallReader, ProbeCall } from "tallystick-protocol/erc1271/askWallet";
import { VERDICTS } from "tallystick-protocol/erc1271/walletProbe";
import { numberToHex, zeroAddress } from "viem";
import { walletsAtBlock } from "../../../indexer/src/segments/walletsAtBlock.ts";

const question: ProbeCall = { data: "0x12", gas: 1n, account: zeroAddress, gasPrice: 0n };
const [YES, NO] = [VERDICTS.yes, VERDICTS.no].map((it) => numberToHex(it, { size: 32 }));

describe("the answers of wallets at a block", () => {
  let asked: string[];
  beforeEach(() => {
    asked = [];
  });
  const answering = (name: string, data = YES): CallReader => ({
    call: async () => {
      asked.push(name);
      return { data };
    },
  });
  const inHistory = async () => true;
  const live = async () => false;

  it("come from what Ponder kept, in the history", async () => {
    const wallets = walletsAtBlock(answering("kept"), answering("hash", NO), inHistory);
    expect(await wallets.call(question)).to.deep.equal({ data: YES });
    expect(asked).to.deep.equal(["kept"]);
  });

  it("are those of the block with this hash while the chain may change, and Ponder keeps one for later", async () => {
    const wallets = walletsAtBlock(answering("kept"), answering("hash", NO), live);
    expect(await wallets.call(question)).to.deep.equal({ data: NO });
    expect(asked).to.deep.equal(["kept", "hash"]);
  });

  it("do not need Ponder while the chain may change", async () => {
    const refusing: CallReader = { call: () => Promise.reject(new Error("no such block")) };
    const wallets = walletsAtBlock(refusing, answering("hash"), live);
    expect(await wallets.call(question)).to.deep.equal({ data: YES });
  });
});
