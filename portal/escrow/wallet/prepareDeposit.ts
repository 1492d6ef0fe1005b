import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import {
  authorizationFields,
  receiveWithAuthorizationTypedData,
  type TokenDomain,
} from "tallystick-protocol/escrow/authorization";
import type { Hex } from "tallystick-protocol/hex";
import { encodeFunctionData } from "viem";
import { formatAmount, formatTime } from "../../design/format.ts";
import type { EscrowTerms } from "../termsOf.ts";
import { payeeOf } from "../termsOf.ts";
import { decimalOf } from "../usdc.ts";
import { askWallet, DECIDING_MS } from "./askWallet.ts";
import { type Chain, isHexText } from "./createChain.ts";
import type { EscrowCode } from "./escrowCode.ts";
import { barredNotes, type Prepared, tryCall } from "./prepareAct.ts";
import { type AllowanceStep, prepareAllowance } from "./prepareAllowance.ts";
import type { Provider } from "./provider.ts";
import { type Ground, readGround, readStanding } from "./readGround.ts";
import { readTokenDomain, tokenAbi, tokenAnswer } from "./tokenDomain.ts";
import { WalletError } from "./walletError.ts";

/** A payment that the buyer signs (EIP-3009). Any account may send it. */
export type SignedPayment = { by: "signature"; authorization: Authorization; domain: TokenDomain };

/** A deposit that is ready: how it is paid, and notes for the reader. */
export type DepositReady = {
  code: EscrowCode;
  way: SignedPayment | ({ by: "allowance" } & AllowanceStep);
  notes: string[];
};

type Authorization = {
  from: Hex;
  to: Hex;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
};

/**
 * How long a signed payment is valid, in seconds: long enough for a slow wallet, and short enough to be
 * harmless later.
 */
const GOOD_SECONDS = 3_600;

/** The decimals of USDC, with which this page writes every amount. */
const DECIMALS = 6;

/** The longest signature of a contract wallet, in hex digits. */
const MAX_SIGNATURE_LENGTH = 20_000;

/**
 * Checks everything for a deposit through the wallet. Nothing is signed.
 * @param told the name and version of the token's EIP-712 domain, according to the node
 * @param isByAllowance pay by allowance, even if the token takes payments by signature
 * @throws WalletError that says why not
 */
export async function prepareDeposit(
  chain: Chain,
  {
    ground,
    terms,
    account,
    told,
    isByAllowance,
  }: {
    ground: Ground;
    terms: EscrowTerms;
    account: Hex;
    told: { name: string | null; version: string | null };
    isByAllowance: boolean;
  },
): Promise<DepositReady> {
  const { hire, id } = terms;
  const { contract, token, chainId } = ground;
  const code = await readGround(chain, ground);
  if (hire.buyer !== account)
    throw new WalletError({
      code: "other_account",
      message: "These terms name another buyer than this account.",
      hint: "Nothing was signed or sent. Close this and read the terms again, or change the account back in the wallet.",
    });
  const standing = await readStanding(chain, { contract, id, hire, account });
  if (standing.status !== "none")
    throw new WalletError({
      code: "not_open",
      message: "Exactly these terms were deposited before.",
      hint: "The same terms cannot be deposited again. Begin a new escrow.",
    });
  const [balance, decimals, paused, domain] = await Promise.all([
    chain.read(token, tokenAbi, "balanceOf", [account]) as Promise<bigint>,
    tokenAnswer(() => chain.read(token, tokenAbi, "decimals", []) as Promise<number>),
    chain.read(contract, hireEscrowAbi, "pausedUntil", []) as Promise<bigint>,
    isByAllowance ? null : readTokenDomain(chain, { chainId, token, told, account }),
  ]);
  if (decimals !== DECIMALS)
    throw new WalletError({
      code: "other_token",
      message: `The token has ${decimals ?? "unknown"} decimals, and this page writes amounts with ${DECIMALS}.`,
      hint: "It is not USDC. This page signs nothing for it.",
    });
  const time = BigInt(standing.time);
  if (hire.deadline <= time) throw passed();
  if (paused > time)
    throw new WalletError({
      code: "not_open",
      message: `The guardian has paused deposits until ${formatTime(Number(paused))}.`,
      hint: "This does not affect money that is held. Wait, or use another provider.",
    });
  if (balance < hire.amount)
    throw new WalletError({
      code: "no_money",
      message: `The account has ${formatAmount(decimalOf(balance))} of the token, and ${formatAmount(decimalOf(hire.amount))} are needed.`,
      hint: "Send it more of the token on this chain, or use another account.",
    });
  const notes = await barredNotes(chain, token, [account, payeeOf(hire)]);
  if (domain === null)
    return {
      code,
      notes,
      way: { by: "allowance", ...(await prepareAllowance(chain, { terms, token, account })) },
    };
  const soon = time + BigInt(GOOD_SECONDS);
  const authorization = {
    from: account,
    to: contract,
    value: hire.amount,
    validAfter: 0n,
    validBefore: soon < hire.deadline ? soon : hire.deadline,
    nonce: id,
  };
  return { code, notes, way: { by: "signature", authorization, domain } };
}

/**
 * Asks the wallet to sign the payment of a deposit.
 *
 * @returns the signature; of a contract wallet it may be longer than 65 bytes
 * @throws WalletError
 */
export async function signDeposit(
  provider: Provider,
  { authorization, domain }: SignedPayment,
  signal?: AbortSignal,
): Promise<Hex> {
  const typedData = receiveWithAuthorizationTypedData(authorization, domain);
  const text = JSON.stringify(
    {
      ...typedData,
      types: {
        EIP712Domain: [
          { name: "name", type: "string" },
          { name: "version", type: "string" },
          { name: "chainId", type: "uint256" },
          { name: "verifyingContract", type: "address" },
        ],
        ReceiveWithAuthorization: authorizationFields,
      },
    },
    (_, value: unknown) => (typeof value === "bigint" ? value.toString() : value),
  );
  const signature = await askWallet(provider, {
    method: "eth_signTypedData_v4",
    params: [authorization.from, text],
    withinMs: DECIDING_MS,
    signal,
  });
  if (!isHexText(signature) || signature.length < 132 || signature.length > MAX_SIGNATURE_LENGTH) {
    throw new WalletError({
      code: "bad_answer",
      message: "The wallet answers with something that is not a signature.",
      hint: "Nothing was sent. Use another wallet.",
    });
  }
  return signature;
}

/**
 * Makes the transaction of a signed deposit, and simulates it.
 *
 * @throws WalletError `refused` when the contract or the token does not take it
 */
export async function depositCall(
  chain: Chain,
  { terms, way, signature }: { terms: EscrowTerms; way: SignedPayment; signature: Hex },
): Promise<Prepared> {
  const { from, to, validAfter, validBefore } = way.authorization;
  const data = encodeFunctionData({
    abi: hireEscrowAbi,
    functionName: "depositWithAuthorization",
    args: [terms.hire, validAfter, validBefore, signature],
  });
  return { ...(await tryCall(chain, { from, to, data })), notes: [] };
}

function passed(): WalletError {
  return new WalletError({
    code: "refused",
    message: "The deadline has passed.",
    hint: "Choose a later one. Nothing was signed.",
  });
}
