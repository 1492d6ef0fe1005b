import { expect } from "chai";
import type { DeriveEvent } from "tallystick-derive/events";
import { foldLog, notesOf } from "tallystick-derive/foldLog";
import type { Address } from "tallystick-protocol/address";
import { ContractWords } from "../../../scripts/openLog/contractWords.ts";
import { type LedgerChain, ledgerChain } from "../../../tools/bench/ledger/ledgerChain.ts";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { BUILD_TIMEOUT } from "../../support/freshChain.ts";

const MAGIC = "1626ba7e".padEnd(64, "0");
const [YES, NO, PLAIN] = [wallet(31), wallet(32), wallet(33)] as [Address, Address, Address];

/** A log with a listing of each of these signers, and what the log says of their signatures. */
function logOf(said: [signer: Address, accepted: boolean][], block: number): EventLog {
  const log = new EventLog();
  log.block = block;
  for (const [signer, erc1271] of said) {
    log.listing(signer, "text.translate");
    Object.assign(log.events.at(-1) as DeriveEvent, { erc1271 });
  }
  return log;
}

describe("what a log says of contracts' signatures", function () {
  this.timeout(BUILD_TIMEOUT);
  let chain: LedgerChain;
  let block: number;
  before(async () => {
    chain = await ledgerChain();
    // One wallet accepts every signature, the other one accepts none.
    await chain.request("hardhat_setCode", YES, `0x7f${MAGIC}60005260206000f3`);
    await chain.request("hardhat_setCode", NO, "0x60006000fd");
    await chain.request("evm_mine");
    block = Number(await chain.request("eth_blockNumber"));
  });
  after(() => chain?.close());

  const compare = async (said: [Address, boolean][], { rpcUrl = chain.rpcUrl, at = block } = {}) => {
    const words = new ContractWords();
    for (const event of logOf(said, at).events) words.note(event);
    return await words.compare(rpcUrl, { witness: chain.contract });
  };

  it("is confirmed by the chain, or is named with its record", async () => {
    expect(await compare([])).to.deep.equal({ confirmed: 0, wrong: [], unknown: 0 });
    expect(
      await compare([
        [YES, true],
        [NO, false],
      ]),
    ).to.deep.equal({ confirmed: 2, wrong: [], unknown: 0 });
    const { confirmed, wrong } = await compare([
      [PLAIN, true],
      [NO, true],
      [YES, false],
      [YES, true],
    ]);
    expect(confirmed).to.equal(1);
    expect(wrong).to.have.length(3);
    expect(wrong.join("\n"))
      .to.match(
        new RegExp(`record \\d+ of the ledger 0x\\w+ is signed by the contract ${PLAIN} .* is no contract`),
      )
      .and.contain(`the contract ${NO} accepted the signature; on the chain it did not`)
      .and.contain(`the contract ${YES} refused the signature; on the chain it did not`);
  });

  it("is unknown if the chain's node does not answer", async () => {
    const said: [Address, boolean][] = [
      [YES, true],
      [PLAIN, true],
    ];
    const silent = await compare(said, { rpcUrl: "http://127.0.0.1:9" });
    expect(silent).to.deep.equal({ confirmed: 0, wrong: [], unknown: 2 });
    // This node does not have such a block.
    expect((await compare(said, { at: block + 1_000 })).unknown).to.equal(2);
  });

  it("is counted, and a note says that it was not checked", async () => {
    const lines = async function* () {
      for (const event of logOf(
        [
          [PLAIN, true],
          [NO, false],
        ],
        1,
      ).events)
        yield `${JSON.stringify(event)}\n`;
    };
    const derived = await foldLog(lines(), {});
    expect(derived.store.rows("listing").size, "a forged listing is accepted").to.equal(1);
    expect(derived.contractSigned).to.equal(2);
    expect(notesOf(derived).join()).to.contain("2 records have contracts as signers, by the word of the log");
    expect(notesOf(await foldLog(lines(), { trustSignatures: true }))).to.deep.equal([]);
  });
});
