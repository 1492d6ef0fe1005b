import { expect } from "chai";
import type { VerifiedProof } from "tallystick-protocol/proof/proofBundle";
import { ProofError } from "tallystick-protocol/proof/provenEntry";
import { confirmProof } from "tallystick-sdk/proof/confirmProof";
import type { PublicClient } from "viem";
import { frozenLedgerCode } from "../../support/frozenLedgerCode.ts";
import { address, type anchor, chainWith, proof, transaction, word } from "./support/anchoredChain.ts";

const refusal = async (of: VerifiedProof, client: PublicClient) => {
  const error = await confirmProof(of, client).then(
    () => null,
    (it: Error) => it,
  );
  expect(error).to.be.instanceOf(ProofError);
  return (error as ProofError).message;
};

describe("a proof that is compared with the chain", () => {
  it("is confirmed by the transaction that anchored its size and root", async () => {
    expect(await confirmProof(proof, chainWith())).to.deep.equal({ transaction, block: 12 });
  });

  for (const [what, changed] of Object.entries<Partial<typeof anchor>>({
    "another root": { root: word("41") },
    "another size": { size: 4 },
    "another ledger": { id: word("1f") },
    "another contract's ledger": { contract: address("c1") },
    "nothing, because it failed": { status: "reverted" },
  }))
    it(`is refused if the transaction anchored ${what}`, async () => {
      expect(await refusal(proof, chainWith(changed))).to.contain(
        "did not anchor the checkpoint's size and root",
      );
    });

  it("is refused if its contract has other code, which could answer anything", async () => {
    const place = { chainId: 31_337, address: address("c0") };
    for (const code of ["0x6000", `${frozenLedgerCode(place)}00`, frozenLedgerCode({ ...place, chainId: 1 })])
      expect(await refusal(proof, chainWith({}, { code: code as `0x${string}` }))).to.contain(
        "is not that of a released AnchoredLedger",
      );
    expect(await refusal(proof, chainWith({}, { code: "0x" }))).to.contain("There is no contract at");
  });

  it("is refused on Base and on Base Sepolia if its contract is a copy at another address, whose constructor may have written heads", async () => {
    for (const chainId of [8_453, 84_532]) {
      const onBase = { ...proof, ledger: { ...proof.ledger, chainId } } as VerifiedProof;
      expect(await refusal(onBase, chainWith({}, { chainId }))).to.contain("is a copy of the released");
    }
  });

  it("is refused if the contract has marked the ledger, whose writer signed two histories", async () => {
    expect(await refusal(proof, chainWith({}, { isMarked: true }))).to.contain("has marked the ledger");
  });

  it("is refused if it names no transaction or no ledger, or belongs to another chain or writer", async () => {
    expect(await refusal({ ...proof, transaction: null }, chainWith())).to.contain("was not anchored when");
    expect(await refusal({ ...proof, ledger: null }, chainWith())).to.contain(
      "no signature of a ledger's writer",
    );
    expect(await refusal(proof, chainWith({}, { chainId: 1 }))).to.contain("leads to chain 1;");
    expect(await refusal(proof, chainWith({}, { writerNow: address("a2") }))).to.contain("and never did");
  });
});
