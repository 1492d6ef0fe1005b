import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Hex } from "tallystick-protocol/hex";
import { encodeFunctionData } from "viem";
import type { EscrowTerms } from "../termsOf.ts";
import type { Call, Chain } from "./createChain.ts";
import { tryCall } from "./prepareAct.ts";
import { tokenAbi } from "./tokenDomain.ts";
import { WalletError } from "./walletError.ts";

/**
 * The next transaction of a deposit by allowance, which was tried on the chain. `clear` comes first only for
 * tokens that accept a new allowance only after a zero allowance (Tether's).
 */
export type AllowanceStep = { next: "clear" | "allow" | "deposit"; call: Call; fee: bigint };

/**
 * Finds the next transaction of a deposit by allowance. The page asks for an allowance of exactly the
 * amount, so the contract can take no more.
 *
 * @throws WalletError `refused`, `no_gas`
 */
export async function prepareAllowance(
  chain: Chain,
  { terms, token, account }: { terms: EscrowTerms; token: Hex; account: Hex },
): Promise<AllowanceStep> {
  const { hire, deployment } = terms;
  const allowed = (await chain.read(token, tokenAbi, "allowance", [account, deployment.escrow])) as bigint;
  if (allowed >= hire.amount) {
    const data = encodeFunctionData({ abi: hireEscrowAbi, functionName: "deposit", args: [hire] });
    return { next: "deposit", ...(await tryCall(chain, { from: account, to: deployment.escrow, data })) };
  }
  const approve = (amount: bigint) =>
    tryCall(chain, {
      from: account,
      to: token,
      data: encodeFunctionData({
        abi: tokenAbi,
        functionName: "approve",
        args: [deployment.escrow, amount],
      }),
    });
  try {
    return { next: "allow", ...(await approve(hire.amount)) };
  } catch (error) {
    const mayClear = allowed > 0n && error instanceof WalletError && error.code === "refused";
    if (!mayClear) throw error;
    return { next: "clear", ...(await approve(0n)) };
  }
}
