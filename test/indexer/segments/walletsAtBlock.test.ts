import { expect } from "chai";
import { askWallet, type CallReader } from "tallystick-protocol/erc1271/askWallet";
import { VERDICTS } from "tallystick-protocol/erc1271/walletProbe";
import { type Hex, numberToHex } from "viem";
import { walletsAtBlock } from "../../../indexer/src/segments/walletsAtBlock.ts";

const question = {
  signer: `0x${"c0".repeat(20)}`,
  hash: `0x${"12".repeat(32)}`,
  signature: "0x1234",
} as const;
const witness = `0x${"aa".repeat(20)}` as const;

const word = (verdict: bigint): Hex => numberToHex(verdict, { size: 32 });
const [YES, NO] = [word(VERDICTS.yes), word(VERDICTS.no)];
/** Answers that only say that the chain's node could not answer. */
const REFUSALS: readonly Hex[] = [word(VERDICTS.noState), word(VERDICTS.tooLittleGas), word(99n), "0x"];

const refusing: CallReader = { call: () => Promise.reject(new Error("no such block")) };
const inHistory = async () => true;
const live = async () => false;

describe("the answers of wallets at a block", () => {
  let asked: string[];
  beforeEach(() => {
    asked = [];
  });
  const answering = (name: string, data: Hex): CallReader => ({
    call: async () => {
      asked.push(name);
      return { data };
    },
  });
  const ask = (kept: CallReader, byHash: CallReader, isFinal: () => Promise<boolean>) =>
    askWallet(walletsAtBlock(kept, byHash, isFinal), question, witness).catch(({ code }) => code);

  it("are those of the block with this hash, and Ponder keeps one for later", async () => {
    for (const isFinal of [inHistory, live]) {
      asked = [];
      expect(await ask(answering("kept", YES), answering("hash", NO), isFinal)).to.equal("no");
      expect(asked).to.deep.equal(["kept", "hash"]);
    }
  });

  it("come from what Ponder kept of a final block when the chain's node has forgotten its state", async () => {
    for (const [verdict, answer] of [
      [VERDICTS.yes, "yes"],
      [VERDICTS.no, "no"],
      [VERDICTS.noContract, "no_contract"],
    ] as const) {
      const kept = answering("kept", word(verdict));
      for (const byHash of [refusing, ...REFUSALS.map((it) => answering("hash", it))])
        expect(await ask(kept, byHash, inHistory)).to.equal(answer);
    }
  });

  it("do not come from what Ponder kept while the chain may change", async () => {
    for (const byHash of [refusing, ...REFUSALS.map((it) => answering("hash", it))])
      expect(await ask(answering("kept", YES), byHash, live)).to.equal("chain_unavailable");
  });

  it("do not need Ponder", async () => {
    for (const isFinal of [inHistory, live])
      expect(await ask(refusing, answering("hash", YES), isFinal)).to.equal("yes");
  });

  it("are asked for again when Ponder kept only that the chain's node could not answer", async () => {
    for (const refusal of REFUSALS) {
      const kept = answering("kept", refusal);
      expect(await ask(kept, answering("hash", YES), inHistory), refusal).to.equal("yes");
      expect(await ask(kept, answering("hash", word(VERDICTS.noState)), inHistory), refusal).to.equal(
        "chain_unavailable",
      );
    }
  });
});
