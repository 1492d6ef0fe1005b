import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { type Abi, decodeErrorResult, parseAbi } from "viem";
import { formatAmount, formatTime, plainText, shortHash } from "../../design/format.ts";
import { decimalOf } from "../usdc.ts";
import { isHexText } from "./createChain.ts";

/** Errors of OpenZeppelin's tokens, and of the test tokens that replace Circle's USDC. */
const tokenErrors = parseAbi([
  "error Error(string message)",
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
  "error ERC3009InvalidSignature()",
  "error ERC3009InvalidAuthorizationTime(uint256 validAfter, uint256 validBefore)",
  "error ERC3009UsedAuthorization(address authorizer, bytes32 nonce)",
  "error NotAllowed(address account)",
  "error TokenPaused()",
]);

const abi: Abi = [...hireEscrowAbi, ...tokenErrors];

type Arguments = readonly unknown[];
const amount = (value: unknown): string => `${formatAmount(decimalOf(BigInt(value as bigint)))} USDC`;
const when = (value: unknown): string => formatTime(Number(value));
const who = (value: unknown): string => shortHash(String(value).toLowerCase());

const STATUSES = [
  "was never deposited",
  "is held",
  "was released",
  "was split",
  "was refunded",
  "has timed out",
];

/** The meaning of each error for the reader. */
const WORDS: { [name: string]: (args: Arguments) => string } = {
  AlreadyDelivered: () => "Delivery was marked before.",
  AmountIsZero: () => "A hire of nothing needs no escrow.",
  AmountMoved: () => "The token moved another amount than it was told to.",
  BuyerPaysItself: () => "The buyer can be neither the seller nor the account that is paid.",
  DeadlineNotReached: ([, deadline]) => `The deadline has not passed: it is ${when(deadline)}.`,
  DeadlinePassed: ([, deadline]) => `The deadline has passed: it was ${when(deadline)}.`,
  DepositsPaused: ([, until]) => `The guardian has paused deposits until ${when(until)}.`,
  EscrowIsParty: () => "The contract itself can be neither buyer, seller nor arbiter.",
  FeeAboveAmount: () => "The fee is part of the amount: it cannot be more.",
  FeeWithoutRecipient: () => "A fee needs an account that receives it.",
  ForbiddenRecipient: ([recipient]) =>
    `Money sent to ${who(recipient)} would be lost: it is the contract or the token.`,
  InvalidSignature: ([signer]) => `The signature is not one of ${who(signer)} over these terms.`,
  NotAParty: ([signer]) => `${who(signer)} is no party of this hire.`,
  NotAuthorized: ([, expected]) => `Only ${who(expected)} can do this.`,
  NotEnoughGas: () => "It needs more gas: otherwise a payment could fail.",
  NothingToWithdraw: ([account]) => `The contract owes ${who(account)} nothing.`,
  SafeERC20FailedOperation: () => "The token refuses the payment.",
  SellerIsZero: () => "A hire needs a seller.",
  SplitOutOfRange: ([, whole]) =>
    `A split gives both sides something: more than 0 and less than ${amount(whole)}.`,
  WrongStatus: ([, actual]) =>
    `This escrow ${STATUSES[Number(actual)] ?? "is not in the state that this needs"}.`,
  ERC20InsufficientBalance: ([sender, balance, needed]) =>
    `${who(sender)} has ${amount(balance)}, and ${amount(needed)} are needed.`,
  ERC20InsufficientAllowance: () => "The token was not told to let the escrow take the money.",
  ERC3009InvalidSignature: () =>
    "The token does not take the signature: it is not the buyer's over this payment.",
  ERC3009InvalidAuthorizationTime: () => "The signature is no longer good: its time is over.",
  ERC3009UsedAuthorization: () => "This payment was made before.",
  NotAllowed: ([account]) => `The token bars ${who(account)}: it moves nothing from or to that account.`,
  TokenPaused: () => "The token is paused: its maker has stopped all payments.",
};

/** The error with which the contract or its token refuses a call, with a sentence for people. */
export type Refusal = { name: string; words: string };

/**
 * Finds the contract's error in the error of a wallet; null if there is none. Each wallet puts it at a
 * different depth.
 */
export function refusalIn(cause: unknown): Refusal | null {
  const data = revertData(cause, 0);
  if (data === null) return wordsOnly(cause, 0);
  if (data === "0x") return NO_REASON;
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi, data }) as {
      errorName: string;
      args?: Arguments;
    };
    return { name: errorName, words: wordsOf(errorName, args) };
  } catch {
    return {
      name: data.slice(0, 10),
      words: `The contract refuses with an error that this page does not know: ${data.slice(0, 10)}.`,
    };
  }
}

function wordsOf(name: string, args: Arguments): string {
  if (name !== "Error") return WORDS[name]?.(args) ?? `The contract refuses: ${name}.`;
  const text = plainText(String(args[0]), 200);
  const isBarred = /blacklist|blocklist|denylist/i.test(text);
  return isBarred
    ? `The token bars one of the accounts: it moves nothing from or to it ("${text}").`
    : `The token refuses: "${text}".`;
}

const DEEPEST = 6;

const NO_REASON: Refusal = { name: "none", words: "The contract refuses, and gives no reason." };

/** The message of a node when a contract refuses and returns no bytes. Old tokens, such as Tether's, return none. */
const REVERTED = /\b(?:execution|transaction) reverted\b(?:: (?<reason>.+))?/i;

/** Reads a refusal from an error that has only words. Gives null if the words tell of no refusal. */
function wordsOnly(value: unknown, depth: number): Refusal | null {
  if (depth > DEEPEST || typeof value !== "object" || value === null) return null;
  const { code, message, data, cause, error, originalError } = value as { [field: string]: unknown };
  for (const inner of [data, originalError, error, cause]) {
    const found = wordsOnly(inner, depth + 1);
    if (found !== null) return found;
  }
  const said = typeof message === "string" ? REVERTED.exec(message.slice(0, 500)) : null;
  if (said === null) return code === 3 ? NO_REASON : null;
  const reason = plainText(said.groups?.reason ?? "", 200).trim();
  return reason === "" ? NO_REASON : { name: "Error", words: `The contract refuses: "${reason}".` };
}

function revertData(value: unknown, depth: number): `0x${string}` | null {
  if (depth > DEEPEST || typeof value !== "object" || value === null) return null;
  const { data, cause, error, originalError } = value as { [field: string]: unknown };
  if (isHexText(data)) return data;
  for (const inner of [data, originalError, error, cause]) {
    const found = revertData(inner, depth + 1);
    if (found !== null) return found;
  }
  return null;
}
