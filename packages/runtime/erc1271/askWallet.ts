import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { isHex } from "tallystick-protocol/hex";
import { BaseError, type Hex, RpcRequestError, size } from "viem";
import { LONGEST_SIGNATURE, PROBE_GAS, VERDICTS, walletProbe } from "./walletProbe.ts";

/** What is asked of the chain. A viem client is one, and so is Ponder's `context.client`, at the block of its event. */
export type CallReader = {
  call: (parameters: { data: Hex; gas: bigint }) => Promise<{ data?: Hex | undefined }>;
};

/** Whose signature over which hash. */
export type WalletQuestion = { signer: Address; hash: Hex; signature: Hex };

/** What a wallet says of a signature; `no_contract` when the signer has no code, and so nobody can be asked. */
export type WalletAnswer = "yes" | "no" | "no_contract";

/**
 * Asks a contract wallet for a signature (ERC-1271). Anything that the wallet does but give the magic value is a no; what
 * goes wrong on the way to it, at the provider or in the network, is no answer.
 *
 * @param witness a contract that is there at the block asked about: without its code the provider has no state of it
 * @throws TallystickError `chain_unavailable` when the chain cannot be asked: try again
 */
export async function askWallet(
  chain: CallReader,
  question: WalletQuestion,
  witness?: Address,
): Promise<WalletAnswer> {
  // No contract could be asked about it either: that, too, is the same for all who ask.
  if (size(question.signature) > LONGEST_SIGNATURE) return "no";
  let data: Hex | undefined;
  try {
    ({ data } = await chain.call({ data: walletProbe(question, witness), gas: PROBE_GAS }));
  } catch (cause) {
    throw unavailable(reasonOf(cause), cause);
  }
  switch (isHex(data, 32) ? BigInt(data) : null) {
    case VERDICTS.yes:
      return "yes";
    case VERDICTS.no:
      return "no";
    case VERDICTS.noContract:
      return "no_contract";
    case VERDICTS.noState:
      throw unavailable("the RPC has no state of this block");
    case VERDICTS.tooLittleGas:
      throw unavailable(`the RPC gives an eth_call less than ${PROBE_GAS} gas`);
    default:
      throw unavailable("the RPC answered what the question cannot come to");
  }
}

/** What may be shown to strangers: neither the RPC's address nor what was sent to it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof BaseError)) return "the RPC cannot be reached";
  const said = error.walk((cause) => cause instanceof RpcRequestError);
  const text = said instanceof RpcRequestError ? `the RPC says: ${said.details}` : error.shortMessage;
  return text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 200);
}

function unavailable(reason: string, cause?: unknown): TallystickError {
  return new TallystickError({
    code: "chain_unavailable",
    message: `The chain could not be asked whether a signature is a contract wallet's: ${reason}`,
    hint: "Try again later. A signature by the agent's own key needs no chain.",
    cause,
  });
}
