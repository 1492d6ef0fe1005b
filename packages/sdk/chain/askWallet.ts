import type { WalletQuestion } from "tallystick-protocol/erc1271/askWallet";
import type { PublicClient } from "viem";
import { within } from "../deadline.ts";

/**
 * Asks a contract wallet whether a signature over a hash is its own (ERC-1271). `unknown`: the chain gave no
 * answer.
 */
export type AskWallet = (question: WalletQuestion) => Promise<"yes" | "no" | "unknown">;

/** How long the chain may take, in milliseconds. */
const WALLET_MS = 5_000;

/** Asks by a chain client, at its latest block. A signer without code is no contract wallet, so the answer is no. */
export function walletAsker(client: Pick<PublicClient, "call">): AskWallet {
  return async (question) => {
    // Most buyers never meet a contract wallet, so their bundle leaves this out.
    const { askWallet } = await import("tallystick-protocol/erc1271/askWallet");
    const asked = askWallet(client, question).then(
      (answer) => (answer === "yes" ? "yes" : "no"),
      () => "unknown" as const,
    );
    return (await within(asked, WALLET_MS)) ?? "unknown";
  };
}
