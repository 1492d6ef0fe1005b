import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { keccak256, type LocalAccount, stringToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";

/** A person of the story: a name for the printed table, and a wallet. */
export type Actor = { name: string; address: Address; account: LocalAccount; privateKey: Hex };

/** An actor by name. The key is made from the name, so that addresses are the same in every run. */
function actor(name: string): Actor {
  const privateKey = keccak256(stringToBytes(`tallystick demo: ${name}`));
  const account = privateKeyToAccount(privateKey);
  return { name, privateKey, account, address: account.address.toLowerCase() as Address };
}

/** Everybody in the story. */
export const actors = {
  /** Sends the transactions that others signed, and pays for them. */
  relayer: actor("relayer"),
  /** Runs the ledger and anchors it. */
  operator: actor("operator"),
  /** May pause deposits. It does not do so in this story. */
  guardian: actor("guardian"),

  /** Sells three capabilities, reliably. */
  scribe: actor("scribe"),
  /** Sells one capability. Half of its work succeeds. */
  rookie: actor("rookie"),
  /** Sells by escrow only. */
  forge: actor("forge"),
  /** Buyers. */
  acme: actor("acme"),
  bolt: actor("bolt"),

  /** Sells the same as scribe, as reliably. These two are the auditors. */
  quill: actor("quill"),
  /** Sells summaries that pass every check and say nothing. */
  mirage: actor("mirage"),
  /** Sells good translations by escrow. */
  sterling: actor("sterling"),
  /** Sells bad translations by escrow. */
  pewter: actor("pewter"),
  /** Takes good work, and then takes its money back. */
  gripe: actor("gripe"),
  /** Promises uptime, breaks the promise once, and keeps it afterwards. */
  harbor: actor("harbor"),
  /** Checks whether harbor's host answers. */
  prober: actor("prober"),
  /** Rules on the breach that harbor disputes. */
  arbitrator: actor("arbitrator"),
  /** Pays the auditors: the operator's pool. */
  pool: actor("pool"),
  /** Sends what the SDK's agents have signed, and pays for it. */
  courier: actor("courier"),

  /** Funds the ring. */
  puppeteer: actor("puppeteer"),
  /** Five wallets that hire the first of them. */
  ring: [actor("ring-1"), actor("ring-2"), actor("ring-3"), actor("ring-4"), actor("ring-5")] as const,
};

/** The actors that are agents at the end of the story, in the order of the table. */
export const agents: Actor[] = [
  actors.scribe,
  actors.rookie,
  actors.forge,
  actors.quill,
  actors.mirage,
  actors.sterling,
  actors.pewter,
  actors.harbor,
  actors.acme,
  actors.bolt,
  actors.gripe,
  ...actors.ring,
];

/** The name of an address, or its short form. */
export function nameOf(address: string): string {
  return agents.find((it) => it.address === address)?.name ?? `${address.slice(0, 8)}…`;
}
