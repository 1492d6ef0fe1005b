import type { Address } from "tallystick-protocol/address";
import type { PublicClient } from "viem";
import { ChainError } from "../errors.ts";

/**
 * Makes a function that requires that an escrow holds this token. Every amount in an escrow counts as an amount of this token,
 * so hires in an escrow of a worthless token would be paid with nothing. The contract is asked until it has named the token
 * once, because its token never changes.
 *
 * @throws the function throws ChainError `wrong_token`, and passes on the errors of the client
 */
export function tokenCheck(
  client: Pick<PublicClient, "readContract">,
  { escrow, token }: { escrow: Address; token: Address },
): () => Promise<void> {
  let isRight = false;
  return async () => {
    if (isRight) return;
    const { hireEscrowAbi: abi } = await import("tallystick-protocol/abi/hireEscrowAbi");
    const found = await client.readContract({ address: escrow, abi, functionName: "token" });
    if (found.toLowerCase() !== token.toLowerCase()) {
      throw new ChainError({
        code: "wrong_token",
        message: `The escrow ${escrow} holds the token ${found.toLowerCase()}, not ${token.toLowerCase()}.`,
        hint: "Use an escrow of the token in which hires are paid: `escrow` of escrowMode, or ESCROWS and TOKEN_ADDRESS of a keeper.",
        field: "escrow",
        neverSent: true,
      });
    }
    isRight = true;
  };
}
