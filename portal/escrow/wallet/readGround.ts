import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import type { EscrowState } from "../acts.ts";
import { isNamed, payeeOf } from "../termsOf.ts";
import { badAnswer, type Chain } from "./createChain.ts";
import { type EscrowCode, releasedCode } from "./escrowCode.ts";
import { chainName } from "./knownChains.ts";
import { WalletError } from "./walletError.ts";

/**
 * The chain, the contract and the token that the node names. They are checked before the reader signs
 * anything.
 */
export type Ground = { chainId: number; contract: Hex; token: Hex };

/**
 * Checks the node's claims through the wallet: the same chain, a contract with the code of a release, and the
 * same token.
 *
 * @throws WalletError `wrong_chain`, `not_released`, `other_token`
 */
export async function readGround(chain: Chain, { chainId, contract, token }: Ground): Promise<EscrowCode> {
  await requireChain(chain, chainId);
  const bytes = await chain.code(contract);
  const code = bytes === "0x" ? null : releasedCode(bytes, { chainId, address: contract });
  if (code === null) {
    throw new WalletError({
      code: "not_released",
      message:
        bytes === "0x"
          ? `There is no contract at ${contract} on ${chainName(chainId)}.`
          : `The contract at ${contract} is not a released HireEscrow: its code is another.`,
      hint: "This page signs nothing for it. The node may name a wrong contract. Ask another node which contract it names.",
    });
  }
  if (code.token !== token) {
    throw new WalletError({
      code: "other_token",
      message: `The contract holds the token ${code.token}, and the node names ${token}.`,
      hint: "This page signs nothing for it. Ask another node which is right.",
    });
  }
  return code;
}

/** @throws WalletError `wrong_chain` */
export async function requireChain(chain: Chain, chainId: number): Promise<void> {
  const actual = await chain.chainId();
  if (actual === chainId) return;
  throw new WalletError({
    code: "wrong_chain",
    message: `The wallet is on ${chainName(actual)}, and this escrow is on ${chainName(chainId)}.`,
    hint: `Switch the wallet to ${chainName(chainId)}.`,
  });
}

const STATUSES = ["none", "held", "released", "split", "refunded", "timedOut"] as const;

/** Reads the state of an escrow on the chain, and the amounts that the contract owes to its parties and `account`. */
export async function readStanding(
  chain: Chain,
  { contract, id, hire, account }: { contract: Hex; id: Hex; hire: Hire; account: Hex | null },
): Promise<EscrowState> {
  const parties = [payeeOf(hire), hire.seller, hire.buyer, hire.feeRecipient].filter(isNamed);
  const accounts = [...new Set(account === null ? parties : [account, ...parties])];
  const [state, time, ...credits] = await Promise.all([
    chain.read(contract, hireEscrowAbi, "stateOf", [id]) as Promise<{
      status: number;
      delivered: boolean;
      amount: bigint;
    }>,
    chain.time(),
    ...accounts.map((it) => chain.read(contract, hireEscrowAbi, "credit", [it]) as Promise<bigint>),
  ]);
  const status = STATUSES[state.status];
  if (status === undefined || (status === "held" && state.amount !== hire.amount)) throw badAnswer("stateOf");
  return {
    status,
    delivered: state.delivered,
    time,
    credits: accounts.map((it, n) => ({ account: it, amount: credits[n] ?? 0n })),
  };
}
