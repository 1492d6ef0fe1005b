import type { Address } from "tallystick-protocol/address";
import { askWallet, type CallReader } from "tallystick-protocol/erc1271/askWallet";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import type { anchorTypedData, headTypedData } from "tallystick-protocol/ledger/anchor";
import type { HeadSignature } from "tallystick-protocol/note/headSignature";
import { hashTypedData, type LocalAccount } from "viem";

/** The terms that a writer signs. */
export type WriterTerms = ReturnType<typeof anchorTypedData> | ReturnType<typeof headTypedData>;

/** Signs for a ledger's writer. Before the caller calls `sign`, it must store the terms on disk. */
export type WriterSigner = { writer: Address; sign: (terms: WriterTerms) => Promise<HeadSignature> };

/** A writer that is a wallet key. */
export function keySigner(account: LocalAccount): WriterSigner {
  return {
    writer: account.address.toLowerCase() as Address,
    sign: async (terms) => ({ by: "key", signature: await signTerms(account, terms) }),
  };
}

export type ContractSignerParameters = {
  /** A key that the contract accepts, for example of an owner of a Safe with threshold 1. */
  account: LocalAccount;
  writer: Address;
  chainId: number;
  /** A client of the chain. */
  chain: CallReader;
  /** The ledger's contract. It must exist. */
  witness: Address;
};

/**
 * A writer that is a contract (ERC-1271). A Safe wants its owner's signature over the terms as a Safe
 * message; other wallets want it over the terms themselves. The contract is asked each time which signature
 * it accepts, because owners change.
 */
export function contractSigner(parameters: ContractSignerParameters): WriterSigner {
  const { account, writer, chainId, chain, witness } = parameters;
  const forms = [
    (terms: WriterTerms) => signSafeMessage(account, { chainId, safe: writer, message: digestOf(terms) }),
    (terms: WriterTerms) => signTerms(account, terms),
  ];
  return {
    writer,
    sign: async (terms) => {
      for (const form of [...forms]) {
        const signature = await form(terms);
        const answer = await askWallet(chain, { signer: writer, hash: digestOf(terms), signature }, witness);
        if (answer === "yes") {
          // The contract most likely accepts the next signature in the same form.
          forms.sort((a, b) => Number(b === form) - Number(a === form));
          return { by: "contract", signature };
        }
        if (answer === "no_contract") throw noContract(writer);
      }
      throw new TallystickError({
        code: "writer_refuses",
        message: `The writer ${writer}, a contract, does not accept the signature of ${account.address}.`,
        hint: "ANCHOR_PRIVATE_KEY has to be an owner's, and one owner has to be enough (a Safe's threshold of 1).",
      });
    },
  };
}

function noContract(writer: Address): TallystickError {
  return new TallystickError({
    code: "writer_refuses",
    message: `The writer ${writer} is no contract on this chain, and ANCHOR_PRIVATE_KEY is another account's.`,
    hint: "Deploy the wallet, or set ANCHOR_WRITER to the key's own address.",
  });
}

/** Both kinds of terms are typed data of one domain. There are two branches only for viem's types. */
function signTerms(account: LocalAccount, terms: WriterTerms): Promise<Hex> {
  return terms.primaryType === "Anchor" ? account.signTypedData(terms) : account.signTypedData(terms);
}

function digestOf(terms: WriterTerms): Hex {
  return terms.primaryType === "Anchor" ? hashTypedData(terms) : hashTypedData(terms);
}

/** An owner's signature over a message of a Safe: EIP-712 `SafeMessage(bytes message)` in the Safe's own domain. */
function signSafeMessage(
  account: LocalAccount,
  { chainId, safe, message }: { chainId: number; safe: Address; message: Hex },
): Promise<Hex> {
  return account.signTypedData({
    domain: { chainId, verifyingContract: safe },
    types: { SafeMessage: [{ name: "message", type: "bytes" }] },
    primaryType: "SafeMessage",
    message: { message },
  });
}
