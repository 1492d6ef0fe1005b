import type { Address } from "tallystick-protocol/address";
import { getAddress, type PublicClient, parseAbi } from "viem";
import { CANONICAL_SAFE, SAFE_PROXY_CODE } from "../ignition/canonicalSafe.ts";

/** What is at the address of a guardian: an account with a key, a Safe, or another contract. */
export type Guardian =
  | { kind: "key"; delegated: boolean }
  | { kind: "contract" }
  | { kind: "safe"; version: string; official: boolean; threshold: number; owners: Address[] };

const safeAbi = parseAbi([
  "function getThreshold() view returns (uint256)",
  "function getOwners() view returns (address[])",
  "function VERSION() view returns (string)",
]);

/**
 * The beginning of code that only points to other code (EIP-7702). Such an account still belongs to a key.
 */
const DELEGATION = "0xef0100";

/**
 * Reads what a guardian is. `official`: its code is Safe's own proxy in front of Safe's own contract, so its
 * answers can be trusted.
 */
export async function readGuardian(client: PublicClient, address: Address): Promise<Guardian> {
  const code = (await client.getCode({ address })) ?? "0x";
  if (code === "0x") return { kind: "key", delegated: false };
  if (code.startsWith(DELEGATION)) return { kind: "key", delegated: true };
  try {
    const read = { address, abi: safeAbi } as const;
    const [threshold, owners, version, slot] = await Promise.all([
      client.readContract({ ...read, functionName: "getThreshold" }),
      client.readContract({ ...read, functionName: "getOwners" }),
      client.readContract({ ...read, functionName: "VERSION" }),
      client.getStorageAt({ address, slot: "0x0" }),
    ]);
    const singleton = getAddress(`0x${(slot ?? "").slice(-40).padStart(40, "0")}`);
    return {
      kind: "safe",
      version: version.slice(0, 20),
      official: code === SAFE_PROXY_CODE && singleton === CANONICAL_SAFE.singleton,
      threshold: Number(threshold),
      owners: owners.map((owner) => owner.toLowerCase() as Address),
    };
  } catch {
    return { kind: "contract" };
  }
}

/** Describes a guardian in words, such as "an official Safe 1.5.0: 2 of 3". */
export function describeGuardian(guardian: Guardian): string {
  if (guardian.kind === "contract") return "a contract, but not a Safe";
  if (guardian.kind === "key")
    return `an ordinary account${guardian.delegated ? " that runs another's code (EIP-7702)" : ""}, not a multisig`;
  const { official, version, threshold, owners } = guardian;
  const whose = official
    ? `an official Safe ${version}`
    : `a Safe, ${version}, that is not one of the canonical 1.5.0`;
  return `${whose}: ${threshold} of ${owners.length}`;
}
