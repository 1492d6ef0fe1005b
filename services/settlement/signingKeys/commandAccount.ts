import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import {
  type Hash,
  hashMessage,
  hashTypedData,
  keccak256,
  type LocalAccount,
  numberToHex,
  parseSignature,
  recoverAddress,
  serializeSignature,
  serializeTransaction,
} from "viem";
import { toAccount } from "viem/accounts";
import { runSigner, type SignerCommand } from "./runSigner.ts";

export type CommandAccountParameters = {
  /** The account that signs through the command. */
  address: Address;
  command: SignerCommand;
  /** How long one signature may take, in milliseconds. */
  deadlineMs?: number;
  signal?: AbortSignal | undefined;
};

/** How long a signature may take, in milliseconds. */
const DEADLINE_MS = 10_000;

/** The order of the curve secp256k1. Contracts refuse a signature with an s above half of it. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/**
 * An account that signs through a command. The command reads one line of JSON: `version`, `address`, `kind`,
 * the `digest` to sign, and its content (`typed_data`, `transaction` or `message`). It prints the signature:
 * r and s, with or without v, as `0x` and hex digits. Only one command runs at a time. Every signature is
 * checked against the address before it is used.
 */
export function commandAccount(parameters: CommandAccountParameters): LocalAccount {
  const { address, command, deadlineMs = DEADLINE_MS, signal } = parameters;
  let turn: Promise<unknown> = Promise.resolve();

  function sign(digest: Hash, kind: string, content: unknown): Promise<Hex> {
    const signing = turn.then(async () => {
      const question = { version: 1, address, kind, digest, [kind]: content };
      const input = `${JSON.stringify(question, withoutBigints)}\n`;
      const output = await runSigner({ command, input, deadlineMs, ...(signal && { signal }) });
      return checkSignature(output, digest, address);
    });
    turn = signing.catch(() => {});
    return signing;
  }

  return toAccount({
    address,
    sign: ({ hash }) => sign(hash, "hash", hash),
    signMessage: ({ message }) => sign(hashMessage(message), "message", message),
    signTypedData: (typedData) =>
      sign(hashTypedData(typedData as Parameters<typeof hashTypedData>[0]), "typed_data", typedData),
    signTransaction: async (transaction, { serializer = serializeTransaction } = {}) => {
      const unsigned = (await serializer(transaction)) as Hex;
      const signature = await sign(keccak256(unsigned), "transaction", unsigned);
      return serializer(transaction, parseSignature(signature));
    },
  }) as LocalAccount;
}

/** JSON has no integers of this size. They are decimal text, as is usual in typed data. */
function withoutBigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

/**
 * The signature from a command's output, with the lower s and with v.
 *
 * @throws TallystickError `signer_answer` when it is no signature of the address over the digest
 */
async function checkSignature(output: string, digest: Hash, address: Address): Promise<Hex> {
  const [, r = "", s = "", v] =
    /^0x([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{2})?$/.exec(output.trim().toLowerCase()) ?? [];
  if (r === "") throw wrongAnswer("no signature: 0x, and 128 or 130 hex digits");
  const low = BigInt(`0x${s}`) > CURVE_ORDER / 2n ? CURVE_ORDER - BigInt(`0x${s}`) : BigInt(`0x${s}`);
  if (v !== undefined && !["00", "01", "1b", "1c"].includes(v))
    throw wrongAnswer(`a signature with the v ${v}`);
  // The recovery bit is found by the address, because many key services do not give it.
  for (const yParity of [0, 1]) {
    const signature = serializeSignature({ r: `0x${r}`, s: numberToHex(low, { size: 32 }), yParity });
    const signer = await recoverAddress({ hash: digest, signature }).catch(() => undefined);
    if (signer?.toLowerCase() === address) return signature;
  }
  throw wrongAnswer(`a signature that is not ${address}'s over the digest`);
}

function wrongAnswer(what: string): TallystickError {
  return new TallystickError({
    code: "signer_answer",
    message: `The command in ANCHOR_SIGNER printed ${what}.`,
    hint: "It must sign the 32 bytes of `digest` unchanged, with the key of ANCHOR_SIGNER_ADDRESS (docs/settlement/operations.md).",
  });
}
