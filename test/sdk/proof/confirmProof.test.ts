import { expect } from "chai";
import { encodeAbiParameters, encodeEventTopics, type PublicClient } from "viem";
import { anchoredLedgerAbi } from "../../../protocol/abi/anchoredLedgerAbi.ts";
import type { Address } from "../../../protocol/address.ts";
import { fromHex, type Hex } from "../../../protocol/hex.ts";
import { ProofError, type VerifiedProof } from "../../../protocol/proof/proofBundle.ts";
import { confirmProof } from "../../../sdk/proof/confirmProof.ts";

const word = (byte: string): Hex => `0x${byte.repeat(32)}`;
const address = (byte: string): Address => `0x${byte.repeat(20)}`;

const id = word("1e");
const writer = address("a1");
const contract = address("c0");
const transaction = word("7a");
const anchor = { id, contract, size: 3, root: word("40"), status: "success" };
const proof = {
  ledger: { id, writer, contract, chainId: 31_337 },
  transaction,
  checkpoint: { size: anchor.size, root: fromHex(anchor.root) },
} as unknown as VerifiedProof;

/** A chain with one transaction, which anchored what is said. */
function chainWith(changed: Partial<typeof anchor> = {}, { chainId = 31_337, writerNow = writer } = {}) {
  const it = { ...anchor, ...changed };
  const event = anchoredLedgerAbi.find((entry) => entry.type === "event" && entry.name === "Anchored");
  const values: { [name: string]: unknown } = {
    ledgerId: it.id,
    oldSize: 0n,
    newSize: BigInt(it.size),
    root: it.root,
  };
  const inputs: readonly { name: string; type: string; indexed?: boolean }[] =
    event?.type === "event" ? event.inputs : [];
  const standIn = ({ name, type }: { name: string; type: string }) =>
    values[name] ?? (type === "address" ? writer : type === "bytes32" ? word("00") : 0n);
  const indexed = Object.fromEntries(
    inputs.filter((input) => input.indexed).map((input) => [input.name, standIn(input)]),
  );
  const plain = inputs.filter((input) => !input.indexed);
  const log = {
    address: it.contract,
    topics: encodeEventTopics({ abi: anchoredLedgerAbi, eventName: "Anchored", args: indexed }),
    data: encodeAbiParameters(plain, plain.map(standIn) as never),
  };
  return {
    getChainId: async () => chainId,
    readContract: async ({ functionName }: { functionName: string }) =>
      functionName === "writerOf" ? writerNow : [0n, 0n],
    getTransactionReceipt: async () => ({ logs: [log], status: it.status, blockNumber: 12n }),
  } as unknown as PublicClient;
}

const refusal = async (of: VerifiedProof, client: PublicClient) => {
  const error = await confirmProof(of, client).then(
    () => null,
    (it: Error) => it,
  );
  expect(error).to.be.instanceOf(ProofError);
  return (error as ProofError).message;
};

describe("a proof, against the chain", () => {
  it("is confirmed by the transaction that anchored its size and root", async () => {
    expect(await confirmProof(proof, chainWith())).to.deep.equal({ transaction, block: 12 });
  });

  for (const [what, changed] of Object.entries<Partial<typeof anchor>>({
    "another root": { root: word("41") },
    "another size": { size: 4 },
    "another ledger": { id: word("1f") },
    "another contract's ledger": { contract: address("c1") },
    "nothing, since it failed": { status: "reverted" },
  }))
    it(`is refused when the transaction anchored ${what}`, async () => {
      expect(await refusal(proof, chainWith(changed))).to.contain(
        "did not anchor the checkpoint's size and root",
      );
    });

  it("is refused when it names no transaction or no ledger, or is of another chain or writer", async () => {
    expect(await refusal({ ...proof, transaction: null }, chainWith())).to.contain("was not anchored when");
    expect(await refusal({ ...proof, ledger: null }, chainWith())).to.contain("no word of a ledger's writer");
    expect(await refusal(proof, chainWith({}, { chainId: 1 }))).to.contain("leads to chain 1;");
    expect(await refusal(proof, chainWith({}, { writerNow: address("a2") }))).to.contain("and never did");
  });
});
