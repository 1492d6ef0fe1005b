import { BaseError, type Hex, RpcRequestError, size, zeroAddress } from "viem";
import type { Address } from "../address.ts";
import { TallystickError } from "../errors.ts";
import { isHex } from "../hex.ts";
import { MAX_SIGNATURE_BYTES, PROBE_GAS, VERDICTS, walletProbe } from "./walletProbe.ts";

/**
 * Calls contracts of a chain. A viem client has this interface. Ponder's `context.client` has it too, and reads the
 * state at the block of its event.
 */
export type CallReader = {
  call: (parameters: ProbeCall) => Promise<{ data?: Hex | undefined }>;
};

/** The parameters of a call. `account` is the sender. */
export type ProbeCall = {
  data: Hex;
  gas: bigint;
  account: Address;
  gasPrice: bigint;
  blockOverrides?: { baseFeePerGas: bigint };
};

/** A question to a wallet: is this the signer's signature over this hash? */
export type WalletQuestion = { signer: Address; hash: Hex; signature: Hex };

/**
 * A wallet's answer about a signature; `no_contract` if the signer has no code, so there is no wallet to ask.
 */
export type WalletAnswer = "yes" | "no" | "no_contract";

/**
 * Asks a contract wallet about a signature (ERC-1271). Every result of the wallet except the magic value means
 * no. An error of the provider or of the network is not an answer.
 *
 * @param witness a contract that exists at the block. If the provider finds no code there, it does not have the
 * state of the block, and its answer is not used
 * @throws TallystickError `chain_unavailable` when the chain cannot be asked: try again
 */
export async function askWallet(
  chain: CallReader,
  question: WalletQuestion,
  witness?: Address,
): Promise<WalletAnswer> {
  // The probe cannot contain such a long signature. Every node gives this same answer.
  if (size(question.signature) > MAX_SIGNATURE_BYTES) return "no";
  const call = { data: walletProbe(question, witness), gas: PROBE_GAS, account: zeroAddress, gasPrice: 0n };
  switch (await verdictOf(chain, call)) {
    case VERDICTS.yes:
      return "yes";
    case VERDICTS.no:
      return "no";
    case VERDICTS.noContract:
      return "no_contract";
    case VERDICTS.noState:
      throw unavailable("the RPC has no state of this block");
    case VERDICTS.otherTerms:
      throw unavailable("the RPC gives an eth_call another sender, gas price or base fee than 0");
    case VERDICTS.tooLittleGas:
      throw unavailable(`the RPC gives an eth_call less than ${PROBE_GAS} gas`);
    default:
      throw unavailable("the RPC gave an impossible answer");
  }
}

/**
 * The verdict of the probe, or null for anything else. Most clients show no base fee to a call with the gas price 0.
 * Other clients (anvil, and reth before July 2025) show none only with an override of the block. Not all clients know
 * this override, so it is only the second try.
 */
async function verdictOf(chain: CallReader, call: ProbeCall): Promise<bigint | null> {
  const first = await answerTo(chain, call);
  if (first !== VERDICTS.otherTerms) return first;
  const overridden = { ...call, blockOverrides: { baseFeePerGas: 0n } };
  return answerTo(chain, overridden).catch(() => first);
}

async function answerTo(chain: CallReader, call: ProbeCall): Promise<bigint | null> {
  try {
    const { data } = await chain.call(call);
    return isHex(data, 32) ? BigInt(data) : null;
  } catch (cause) {
    throw unavailable(reasonOf(cause), cause);
  }
}

/** The reason of an error, in our own words. Strangers read it, so the words of the RPC are only in the cause. */
function reasonOf(error: unknown): string {
  const said = error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null;
  if (said instanceof RpcRequestError) return `the RPC answers with error ${said.code}`;
  return "the RPC cannot be reached, or gives no answer of use";
}

function unavailable(reason: string, cause?: unknown): TallystickError {
  return new TallystickError({
    code: "chain_unavailable",
    message: `The chain could not be asked whether a signature is a contract wallet's: ${reason}`,
    hint: "Try again later. A signature by the agent's own key needs no chain.",
    cause,
  });
}
