import { expect } from "chai";
import { VERDICTS, walletProbe } from "tallystick-protocol/erc1271/walletProbe";
import { anchorTypedData, headTypedData } from "tallystick-protocol/ledger/anchor";
import { type Hex, hashTypedData, numberToHex, recoverTypedDataAddress } from "viem";
import {
  contractSigner,
  keySigner,
  type WriterTerms,
} from "../../../services/settlement/anchoring/writerSigner.ts";
import { seller } from "../support/records.ts";

const deployment = { chainId: 31_337, contract: `0x${"cd".repeat(20)}` } as const;
const ID = `0x${"ab".repeat(32)}` as const;
const ROOT = `0x${"12".repeat(32)}` as const;
const SAFE = `0x${"5a".repeat(20)}` as const;
const WITNESS = deployment.contract;
const anchor = anchorTypedData({ ledgerId: ID, seq: 1n, newSize: 5n, newRoot: ROOT }, deployment);
const head = headTypedData({ ledgerId: ID, size: 5n, root: ROOT }, deployment);
const digestOf = (terms: WriterTerms): Hex => hashTypedData(terms as typeof anchor);
const owner = seller.address;

/** The signature of the owner over a Safe's message. */
const asSafe = (terms: WriterTerms) =>
  seller.signTypedData({
    domain: { chainId: deployment.chainId, verifyingContract: SAFE },
    types: { SafeMessage: [{ name: "message", type: "bytes" }] },
    primaryType: "SafeMessage",
    message: { message: digestOf(terms) },
  });
const asOwner = (terms: WriterTerms) => seller.signTypedData(terms as typeof anchor);

describe("the signer of a ledger's writer", () => {
  it("is the writer's own key", async () => {
    const { writer, sign } = keySigner(seller);
    expect(writer).to.equal(owner.toLowerCase());
    for (const terms of [anchor, head]) {
      const { by, signature } = await sign(terms);
      expect(by).to.equal("key");
      const typed = { ...(terms as typeof anchor), signature };
      expect(await recoverTypedDataAddress(typed)).to.equal(owner);
    }
  });

  describe("if the writer is a contract", () => {
    /** The calls of the chain, and the signatures that the contract accepts. */
    let asked: Hex[];
    let accepts: (form: "safe" | "owner") => bigint;
    const open = async (terms: WriterTerms) => {
      const forms = new Map<Hex, "safe" | "owner">();
      for (const one of [anchor, head]) {
        for (const [form, signature] of [
          ["safe", await asSafe(one)],
          ["owner", await asOwner(one)],
        ] as const)
          forms.set(walletProbe({ signer: SAFE, hash: digestOf(one), signature }, WITNESS), form);
      }
      const call = async ({ data }: { data: Hex }) => {
        asked.push(data);
        const form = forms.get(data);
        return { data: numberToHex(form ? accepts(form) : expect.fail("another question"), { size: 32 }) };
      };
      const signer = contractSigner({
        ...{ account: seller, writer: SAFE, chainId: deployment.chainId, witness: WITNESS },
        chain: { call },
      });
      return { signer, signed: () => signer.sign(terms) };
    };
    beforeEach(() => {
      asked = [];
    });

    it("signs as the owner of a Safe, or as a key, whichever the contract accepts", async () => {
      for (const terms of [anchor, head]) {
        asked = [];
        accepts = () => VERDICTS.yes;
        const { signer, signed } = await open(terms);
        expect(signer.writer).to.equal(SAFE);
        expect(await signed()).to.deep.equal({ by: "contract", signature: await asSafe(terms) });
        expect(asked).to.have.length(1);
        accepts = (form) => (form === "owner" ? VERDICTS.yes : VERDICTS.no);
        expect(await signed()).to.deep.equal({ by: "contract", signature: await asOwner(terms) });
        expect(asked).to.have.length(3);
        // This form is tried first now.
        expect(await signed()).to.deep.equal({ by: "contract", signature: await asOwner(terms) });
        expect(asked).to.have.length(4);
        accepts = (form) => (form === "safe" ? VERDICTS.yes : VERDICTS.no);
        expect(await signed()).to.deep.equal({ by: "contract", signature: await asSafe(terms) });
        expect(asked).to.have.length(6);
      }
    });

    it("says so if the contract accepts neither, or is no contract", async () => {
      accepts = () => VERDICTS.no;
      const { signed } = await open(anchor);
      expect(await signed().catch((error) => error)).to.include({
        code: "writer_refuses",
        message: `The writer ${SAFE}, a contract, does not accept the signature of ${owner}.`,
        hint: "ANCHOR_PRIVATE_KEY has to be an owner's, and one owner has to be enough (a Safe's threshold of 1).",
      });
      expect(asked).to.have.length(2);
      accepts = () => VERDICTS.noContract;
      expect(await signed().catch((error) => error)).to.include({
        code: "writer_refuses",
        message: `The writer ${SAFE} is no contract on this chain, and ANCHOR_PRIVATE_KEY is another account's.`,
        hint: "Deploy the wallet, or set ANCHOR_WRITER to the key's own address.",
      });
      expect(asked).to.have.length(3);
    });

    it("makes no signature if the chain does not have the state", async () => {
      accepts = () => VERDICTS.noState;
      const { signed } = await open(anchor);
      expect(await signed().catch(({ code }) => code)).to.equal("chain_unavailable");
    });
  });
});
