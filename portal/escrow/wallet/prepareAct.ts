import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import { encodeFunctionData } from "viem";
import { shortHash } from "../../design/format.ts";
import { type ActName, actsOf } from "../acts.ts";
import { type EscrowTerms, isNamed, payeeOf } from "../termsOf.ts";
import { refusalIn } from "./contractWords.ts";
import { type Call, type Chain, toQuantity } from "./createChain.ts";
import { type Ground, readGround, readStanding } from "./readGround.ts";
import { tokenAbi } from "./tokenDomain.ts";
import { WalletError } from "./walletError.ts";

/**
 * The action that a reader wants to take on an escrow. `resultHash` is the hash of the delivered work, if
 * there is one.
 */
export type Wish = { name: ActName; toSeller?: bigint; account?: Hex; resultHash?: Hex };

/** A transaction whose simulation succeeded, about what its gas costs (wei), and notes for the reader. */
export type Prepared = { call: Call; fee: bigint; notes: string[] };

/** An empty signature. With it, the contract takes the sender as the one who agrees. */
const BY_SENDER: Hex = "0x";

/**
 * Reads everything again through the wallet, simulates the call, and returns the transaction. Nothing is
 * signed or sent.
 *
 * @throws WalletError that says why not
 */
export async function prepareAct(
  chain: Chain,
  { ground, terms, wish, account }: { ground: Ground; terms: EscrowTerms; wish: Wish; account: Hex },
): Promise<Prepared> {
  await readGround(chain, ground);
  const { contract } = ground;
  const standing = await readStanding(chain, { contract, id: terms.id, hire: terms.hire, account });
  const act = actsOf(terms.hire, standing, account).find(({ name }) => name === wish.name);
  if (act?.isOpen !== true)
    throw new WalletError({ code: "not_open", message: act?.why ?? "This is not open." });
  const data = encode(terms, wish, account);
  const notes = await barredNotes(chain, ground.token, receiversOf(terms, wish));
  return { ...(await tryCall(chain, { from: account, to: contract, data })), notes };
}

function encode({ hire }: EscrowTerms, wish: Wish, account: Hex): Hex {
  const abi = hireEscrowAbi;
  switch (wish.name) {
    case "markDelivered": {
      const args = [hire, wish.resultHash ?? ZERO_HASH, BY_SENDER] as const;
      return encodeFunctionData({ abi, functionName: "markDelivered", args });
    }
    case "release":
      return encodeFunctionData({ abi, functionName: "release", args: [hire, BY_SENDER] });
    case "split":
      return encodeFunctionData({ abi, functionName: "split", args: [hire, wish.toSeller ?? 0n, BY_SENDER] });
    case "refund":
      return encodeFunctionData({ abi, functionName: "refund", args: [hire, account, BY_SENDER] });
    case "timeoutRefund":
      return encodeFunctionData({ abi, functionName: "timeoutRefund", args: [hire] });
    case "withdraw":
      return encodeFunctionData({ abi, functionName: "withdraw", args: [wish.account ?? account] });
  }
}

function receiversOf({ hire }: EscrowTerms, { name }: Wish): Hex[] {
  if (name === "withdraw" || name === "markDelivered") return [];
  if (name === "refund" || name === "timeoutRefund") return [hire.buyer];
  return [payeeOf(hire), hire.feeRecipient, ...(name === "split" ? [hire.buyer] : [])].filter(isNamed);
}

/**
 * Notes about accounts that the token bars, if the token reports this (Circle's USDC does). Their part stays
 * in the contract until they are no longer barred.
 */
export async function barredNotes(chain: Chain, token: Hex, accounts: readonly Hex[]): Promise<string[]> {
  const barred = await Promise.all(
    accounts.map(async (account) => {
      try {
        return ((await chain.read(token, tokenAbi, "isBlacklisted", [account])) as boolean) ? [account] : [];
      } catch {
        // A token without a denylist does not have this function.
        return [];
      }
    }),
  );
  return barred
    .flat()
    .map(
      (account) =>
        `The token bars ${shortHash(account)} now: its part would stay in the contract. It can be withdrawn once the token allows it.`,
    );
}

/**
 * Simulates a call on the chain, and computes its cost at the present price of gas. The wallet may pay more per gas, and on
 * Base the fee for Ethereum's data is added.
 * @throws WalletError `refused` with the contract's error in words; `no_gas`; or the error with which the wallet
 * failed
 */
export async function tryCall(
  chain: Chain,
  call: Call & { from: Hex },
): Promise<{ call: Call; fee: bigint }> {
  try {
    await chain.call(call);
    // A little more gas than the estimate, because the cost of a payment may change before the block.
    const gas = ((await chain.estimateGas(call)) * 6n) / 5n;
    const [price, balance] = await Promise.all([chain.gasPrice(), chain.balance(call.from)]);
    const fee = gas * price;
    if (balance < fee) throw noGas(fee, balance);
    return { call: { ...call, gas: toQuantity(gas) }, fee };
  } catch (error) {
    const refusal = refusalIn(error);
    if (refusal === null) throw error;
    throw new WalletError({
      code: "refused",
      message: refusal.words,
      hint: "This was found by trying it. Nothing was sent.",
      cause: error,
    });
  }
}

/** Formats wei as ETH for people, rounded up to six decimals. */
export function formatWei(wei: bigint): string {
  const millionths = (wei + 999_999_999_999n) / 1_000_000_000_000n;
  const digits = millionths.toString().padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, "");
}

function noGas(fee: bigint, balance: bigint): WalletError {
  return new WalletError({
    code: "no_gas",
    message: `The account has ${formatWei(balance)} ETH, and the transaction may cost ${formatWei(fee)} ETH in gas.`,
    hint: "Send it some ETH on this chain, or have somebody else relay your signature.",
  });
}
