// The settings of the examples' node, which `npm run demo -- --keep` prints.

import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";
import { createTransactionSender, type TransactionSender } from "../chain/transactionSender.ts";
import { createEscrowCalls } from "../escrow/escrowCalls.ts";
import { type EscrowRelay, walletRelay } from "../escrow/escrowRelay.ts";

/**
 * Two of the accounts that have ether on every Hardhat chain. Hardhat's manual has their keys: for local chains
 * only.
 */
const LOCAL_KEYS = {
  seller: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
  buyer: "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
} as const;

function setting(name: string): string {
  const value = process.env[name];
  if (value) return value;
  process.stderr.write(
    `${name} is not set. Start a node with npm run demo -- --keep: it prints all the settings.\n`,
  );
  process.exit(1);
}

/** The node, its chain and its escrow. */
export const node = {
  url: setting("TALLYSTICK_URL"),
  rpcUrl: setting("RPC_URL"),
  network: {
    chainId: Number(setting("CHAIN_ID")),
    token: setting("TOKEN_ADDRESS").toLowerCase() as Address,
    name: "USD Coin",
    version: "2",
  } satisfies PaymentNetwork,
  ...escrowOf(setting("ESCROWS")),
};

function escrowOf(text: string): { escrow: Address; paymentMode: string } {
  const [address = "", provider = ""] = text.split(",")[0]?.split("=") ?? [];
  return { escrow: address.toLowerCase() as Address, paymentMode: `platform_escrow:${provider}` };
}

/** The agent's wallet: from the setting, or a new one. It needs no ether. */
export function agentWallet(name: string) {
  return privateKeyToAccount((process.env[name] as Hex | undefined) ?? generatePrivateKey());
}

/** Pays the gas for the seller's or the buyer's side. In production a facilitator and a keeper do this. */
export function openRelay(side: "seller" | "buyer"): { sender: TransactionSender; relay: EscrowRelay } {
  const { chainId } = node.network;
  const key = (process.env.RELAY_PRIVATE_KEY as Hex | undefined) ?? LOCAL_KEYS[side];
  const sender = createTransactionSender({
    account: privateKeyToAccount(key),
    chainId,
    rpc: node.rpcUrl,
    pollingMs: 100,
  });
  return {
    sender,
    relay: walletRelay(createEscrowCalls({ sender, deployment: { chainId, escrow: node.escrow } })),
  };
}

/** Gives a wallet test USDC for free. Real USDC has to be bought. */
export async function mintTestUsdc(sender: TransactionSender, to: Address, amount: bigint): Promise<void> {
  await sender.sendAndWait({
    address: node.network.token,
    abi: testUsdcAbi,
    functionName: "mint",
    args: [to, amount],
  });
}

/**
 * The chain's clock in milliseconds. The demo's clock is ahead of ours, because the demo moves it forward until
 * escrows expire.
 */
export async function chainClock({ client }: TransactionSender): Promise<() => number> {
  const { timestamp } = await client.getBlock();
  const ahead = Math.max(0, Number(timestamp) * 1000 - Date.now());
  return () => Date.now() + ahead;
}
