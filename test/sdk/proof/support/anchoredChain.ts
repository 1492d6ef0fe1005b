import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { fromHex, type Hex } from "tallystick-protocol/hex";
import type { VerifiedProof } from "tallystick-protocol/proof/proofBundle";
import {
  encodeAbiParameters,
  encodeEventTopics,
  type PublicClient,
  TransactionReceiptNotFoundError,
} from "viem";
import { frozenLedgerCode } from "../../../support/frozenLedgerCode.ts";

export const word = (byte: string): Hex => `0x${byte.repeat(32)}`;
export const address = (byte: string): Address => `0x${byte.repeat(20)}`;

const id = word("1e");
const writer = address("a1");
const contract = address("c0");
export const transaction = word("7a");
export const anchor = { id, contract, size: 3, root: word("40"), status: "success" };
export const proof = {
  ledger: { id, writer, contract, chainId: 31_337 },
  transaction,
  checkpoint: { size: anchor.size, root: fromHex(anchor.root) },
} as unknown as VerifiedProof;

/** A chain with the released contract, and one transaction, which anchored the given head. */
export function chainWith(
  changed: Partial<typeof anchor> = {},
  { chainId = 31_337, writerNow = writer, isMarked = false, code = undefined as Hex | undefined } = {},
) {
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
      ({ writerOf: writerNow, isEquivocated: isMarked })[functionName] ?? [0n, 0n],
    getCode: async ({ address }: { address: Address }) => {
      if (code !== undefined) return code;
      return [contract, it.contract].includes(address) ? frozenLedgerCode({ chainId, address }) : undefined;
    },
    getTransactionReceipt: async ({ hash }: { hash: Hex }) => {
      if (hash !== transaction) throw new TransactionReceiptNotFoundError({ hash });
      return { logs: [log], status: it.status, blockNumber: 12n };
    },
  } as unknown as PublicClient;
}
