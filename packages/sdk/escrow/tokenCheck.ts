import type { Address } from "tallystick-protocol/address";
import type { PublicClient } from "viem";
import { ChainError } from "../errors.ts";

/**
 * Makes a function that requires that an escrow holds this token. Every amount in an escrow counts as an amount of this token,
 * so hires in an escrow of a worthless token would be paid with nothing. The contract is asked until it has named the token
 * once, because its token never changes.
 *
 * @throws the function throws ChainError `wrong_token`, also if there is no escrow at the address, and passes on the other
 * errors of the client
 */
export function tokenCheck(
  client: Pick<PublicClient, "readContract">,
  { escrow, token }: { escrow: Address; token: Address },
): () => Promise<void> {
  let isRight = false;
  const wrongToken = (what: string, cause?: unknown): ChainError =>
    new ChainError({
      code: "wrong_token",
      message: `The escrow ${escrow} should hold the token ${token.toLowerCase()}, and ${what}.`,
      hint: "Use an escrow of the token in which hires are paid: `escrow` of escrowMode, or ESCROWS and TOKEN_ADDRESS of a keeper.",
      field: "escrow",
      neverSent: true,
      cause,
    });
  return async () => {
    if (isRight) return;
    const { hireEscrowAbi: abi } = await import("tallystick-protocol/abi/hireEscrowAbi");
    const asked = client.readContract({ address: escrow, abi, functionName: "token" });
    const found = await asked.catch((error: unknown) => {
      throw isWithoutToken(error) ? wrongToken("names no token", error) : error;
    });
    if (found.toLowerCase() !== token.toLowerCase()) throw wrongToken(`holds ${found.toLowerCase()}`);
    isRight = true;
  };
}

/** The names of viem's errors for an address without code or without this function. Two copies of viem share only names. */
const WITHOUT_TOKEN: ReadonlySet<string> = new Set([
  "ContractFunctionZeroDataError",
  "ExecutionRevertedError",
]);

/** Whether the chain answered, and the address gave no token. Any other error may be of the RPC. */
function isWithoutToken(error: unknown): boolean {
  for (let [it, depth] = [error, 0]; it instanceof Error && depth < 16; [it, depth] = [it.cause, depth + 1])
    if (WITHOUT_TOKEN.has(it.name)) return true;
  return false;
}
