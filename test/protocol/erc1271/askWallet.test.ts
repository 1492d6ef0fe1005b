import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { askWallet, type CallReader } from "tallystick-protocol/erc1271/askWallet";
import { contractVerdict } from "tallystick-protocol/erc1271/contractVerdict";
import { MAX_SIGNATURE_BYTES, walletProbe } from "tallystick-protocol/erc1271/walletProbe";
import type { TallystickError } from "tallystick-protocol/errors";
import { recordSigningHash, signRecord } from "tallystick-protocol/records/record";
import { recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";
import { BaseError, type Hex, keccak256, RpcRequestError } from "viem";

const signer: Address = `0x${"c0".repeat(20)}`;
const witness: Address = `0x${"aa".repeat(20)}`;
const question = { signer, hash: `0x${"12".repeat(32)}`, signature: "0x1234" } as const;

const word = (value: number): Hex => `0x${value.toString(16).padStart(64, "0")}`;
type Call = Parameters<CallReader["call"]>[0];

/** A chain that always gives this answer, and the calls that it got. */
function answering(data: Hex | undefined): CallReader & { calls: Call[] } {
  const calls: Call[] = [];
  return {
    calls,
    call: async (call) => {
      calls.push(call);
      return { data };
    },
  };
}

const failing = (error: unknown): CallReader => ({ call: () => Promise.reject(error) });

async function refusal(chain: CallReader): Promise<TallystickError> {
  return askWallet(chain, question).then(
    (answer) => expect.fail(`the question gave ${answer}`),
    (error) => error,
  );
}

const SENTENCE = "The chain could not be asked whether a signature is a contract wallet's: ";

describe("the question to a contract wallet, in one call of the chain", () => {
  it("has the answer that the probe gives", async () => {
    for (const [value, answer] of [
      [0, "no"],
      [1, "yes"],
      [2, "no_contract"],
    ] as const)
      expect(await askWallet(answering(word(value)), question), answer).to.equal(answer);
  });

  it("is always asked on the same terms, and with the witness if there is one", async () => {
    const chain = answering(word(1));
    await askWallet(chain, question);
    await askWallet(chain, question, witness);
    const terms = { gas: 6_000_000n, account: `0x${"00".repeat(20)}`, gasPrice: 0n };
    expect(chain.calls).to.deep.equal([
      { data: walletProbe(question), ...terms },
      { data: walletProbe(question, witness), ...terms },
    ]);
    expect(walletProbe(question))
      .to.equal(walletProbe(question, signer))
      .and.not.equal(walletProbe(question, witness));
  });

  it("is asked by the same program in every version, because nodes must get the same answers", () => {
    // test/sdk/erc1271/askWallet.test.ts runs these programs on a chain.
    expect([walletProbe(question), walletProbe(question, witness)].map((it) => keccak256(it))).to.deep.equal([
      "0x1b1b56126bfbca9bc64625256d0474081346163d63718bfc0fff2e93619c09d5",
      "0x9dc286ffaf3e3ae35c40817269ca691755a3b533042179db6ff5b6568cd0fc75",
    ]);
  });

  it("is asked about a signature of at most 40,000 bytes; a longer one is not valid", async () => {
    const chain = answering(word(1));
    const longest = { ...question, signature: `0x${"12".repeat(MAX_SIGNATURE_BYTES)}` } as const;
    expect(await askWallet(chain, longest)).to.equal("yes");
    expect(await askWallet(chain, { ...longest, signature: `${longest.signature}12` })).to.equal("no");
    expect(chain.calls).to.have.length(1);
  });

  it("has no answer if the RPC gives none, and the error says why", async () => {
    for (const [data, reason] of [
      [word(3), "the RPC has no state of this block"],
      [word(4), "the RPC gives an eth_call less than 6000000 gas"],
      [word(5), "the RPC gives an eth_call another sender, gas price or base fee than 0"],
      [word(6), "the RPC gave an impossible answer"],
      ["0x", "the RPC gave an impossible answer"],
      ["0x01", "the RPC gave an impossible answer"],
      [undefined, "the RPC gave an impossible answer"],
    ] as const) {
      const error = await refusal(answering(data));
      expect(error).to.include({
        code: "chain_unavailable",
        message: SENTENCE + reason,
        hint: "Try again later. A signature by the agent's own key needs no chain.",
      });
    }
  });

  it("is asked again with an override of the base fee, if the RPC did not keep the terms", async () => {
    const answers = [word(5), word(1)];
    const chain = answering(undefined);
    const { call } = chain;
    chain.call = async (asked) => ({ ...(await call(asked)), data: answers.shift() });
    expect(await askWallet(chain, question)).to.equal("yes");
    const [first, second] = chain.calls;
    expect(second).to.deep.equal({ ...first, blockOverrides: { baseFeePerGas: 0n } });
    expect(chain.calls).to.have.length(2);
    // Nothing else is asked twice.
    const other = answering(word(4));
    await refusal(other);
    expect(other.calls).to.have.length(1);
    // A client that does not know overrides gives the first reason.
    const unaware: CallReader = {
      call: ({ blockOverrides }) =>
        blockOverrides ? Promise.reject(new Error("expected 2 params")) : Promise.resolve({ data: word(5) }),
    };
    expect((await refusal(unaware)).message).to.equal(
      `${SENTENCE}the RPC gives an eth_call another sender, gas price or base fee than 0`,
    );
  });

  it("has no answer if the RPC fails, and the error has the RPC's words only as its cause", async () => {
    const said = (message: string, code = -32_000) =>
      new RpcRequestError({ body: {}, url: "https://rpc.example/secret", error: { code, message } });
    const unreachable = "the RPC cannot be reached, or gives no answer of use";
    for (const [cause, reason] of [
      [new Error("https://rpc.example/secret"), unreachable],
      ["text", unreachable],
      [said("Pay at https://evil.example"), "the RPC answers with error -32000"],
      [new BaseError("outside", { cause: said("no state", 3) }), "the RPC answers with error 3"],
      [new BaseError("Reverted with words.", { cause: new Error("x") }), unreachable],
    ] as const) {
      const error = await refusal(failing(cause));
      expect(error).to.include({ code: "chain_unavailable", message: SENTENCE + reason, cause });
    }
  });
});

describe("a contract's verdict on a record", () => {
  const privateKey = `0x${"11".repeat(32)}` as const;
  const signed = () => signRecord({ type: "receipt", body: { a: 1 }, privateKey });

  it("is not asked for if the signer's own key signed, and the given function recovers the key", async () => {
    const chain = answering(word(0));
    let asked = 0;
    const recover: typeof recoverByNoble = (...parts) => {
      asked++;
      return recoverByNoble(...parts);
    };
    expect(await contractVerdict(chain, await signed())).to.equal(undefined);
    expect(await contractVerdict(chain, await signed(), { recover })).to.equal(undefined);
    expect(chain.calls).to.deep.equal([]);
    expect(asked).to.equal(1);
  });

  it("is that of the contract, about the hash that a wallet signs; none if there is no contract", async () => {
    const record = { ...(await signed()), signer };
    for (const [value, verdict] of [
      [0, false],
      [1, true],
      [2, undefined],
    ] as const) {
      const chain = answering(word(value));
      expect(await contractVerdict(chain, record, { witness })).to.equal(verdict);
      const asked = { signer, hash: recordSigningHash(record.body), signature: record.signature };
      expect(chain.calls[0]?.data).to.equal(walletProbe(asked, witness));
    }
  });
});
