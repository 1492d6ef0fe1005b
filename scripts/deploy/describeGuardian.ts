import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import {
  BaseError,
  getAddress,
  HttpRequestError,
  keccak256,
  type PublicClient,
  parseAbi,
  RpcError,
  RpcRequestError,
  stringToHex,
  TimeoutError,
} from "viem";
import { CANONICAL_SAFE, canonicalSafeAddress, SAFE_PROXY_CODE } from "../ignition/canonicalSafe.ts";

/** A guardian that says that it is a Safe. */
export type GuardianSafe = {
  kind: "safe";
  version: string;
  /** Whether it runs Safe's own code, and nobody but its owners is known to be able to act for it or to stop it. */
  official: boolean;
  /**
   * Whether its address shows that its set-up named these owners and did nothing else. Another set-up may have written
   * to its storage an owner or a module that it does not list.
   */
  isAtItsAddress: boolean;
  threshold: number;
  owners: Address[];
  /** Contracts that can act for it without its owners. */
  modules: Address[];
  /** Contracts that can refuse what its owners, or its modules, want to do. */
  guards: Address[];
  /**
   * The contract to which a canonical Safe passes calls that it does not know, if that is not the
   * canonical handler of 1.5.0. Anybody can call that contract in the Safe's name. If it is the escrow, anybody can pause it.
   */
  handler: Address | null;
};

/** What is at the address of a guardian: an account with a key, a Safe, or another contract. */
export type Guardian = { kind: "key"; delegated: boolean } | { kind: "contract" } | GuardianSafe;

const safeAbi = parseAbi([
  "function getThreshold() view returns (uint256)",
  "function getOwners() view returns (address[])",
  "function VERSION() view returns (string)",
  "function getModulesPaginated(address start, uint256 pageSize) view returns (address[] modules, address next)",
]);

/** The start of a Safe's list of modules. */
const FIRST_MODULE = "0x0000000000000000000000000000000000000001";

/** How many modules are read. One is enough to say that the owners are not alone. */
const MAX_MODULES = 50n;

/** Where a Safe keeps the addresses of its two guards. */
const GUARD_SLOTS = ["guard_manager.guard.address", "module_manager.module_guard.address"].map((name) =>
  keccak256(stringToHex(name)),
);

/** Where a Safe keeps the address of its fallback handler. */
const HANDLER_SLOT = keccak256(stringToHex("fallback_manager.handler.address"));

/** The handlers that call nobody in the Safe's name: none, and the canonical one of 1.5.0. */
const KNOWN_HANDLERS: readonly string[] = [ZERO_ADDRESS, CANONICAL_SAFE.handler.toLowerCase()];

/**
 * The beginning of code that only points to other code (EIP-7702). Such an account still belongs to a key.
 */
const DELEGATION = "0xef0100";

/**
 * Reads what a guardian is.
 *
 * @throws TallystickError `chain_unavailable` when the chain cannot be asked
 */
export async function readGuardian(client: PublicClient, address: Address): Promise<Guardian> {
  try {
    return await readCode(client, address);
  } catch (cause) {
    const words = cause instanceof BaseError ? cause.shortMessage : String(cause);
    throw new TallystickError({
      code: "chain_unavailable",
      message: `The chain could not be asked what the guardian ${address} is: ${words}`,
      hint: "Check the RPC. It must answer eth_call, eth_getCode and eth_getStorageAt.",
      cause,
    });
  }
}

async function readCode(client: PublicClient, address: Address): Promise<Guardian> {
  const code = (await client.getCode({ address })) ?? "0x";
  if (code === "0x") return { kind: "key", delegated: false };
  if (code.startsWith(DELEGATION)) return { kind: "key", delegated: true };
  const addressAt = async (slot: Hex): Promise<Address> =>
    `0x${((await client.getStorageAt({ address, slot })) ?? "").slice(-40).padStart(40, "0")}`;
  try {
    const read = { address, abi: safeAbi } as const;
    const [threshold, ownersRead, version, singleton, [modules], handler, ...guards] = await Promise.all([
      client.readContract({ ...read, functionName: "getThreshold" }),
      client.readContract({ ...read, functionName: "getOwners" }),
      client.readContract({ ...read, functionName: "VERSION" }),
      addressAt("0x0"),
      client.readContract({
        ...read,
        functionName: "getModulesPaginated",
        args: [FIRST_MODULE, MAX_MODULES],
      }),
      addressAt(HANDLER_SLOT),
      ...GUARD_SLOTS.map(addressAt),
    ]);
    const owners = ownersRead.map((owner) => owner.toLowerCase() as Address);
    const isSafesCode = code === SAFE_PROXY_CODE && getAddress(singleton) === CANONICAL_SAFE.singleton;
    const found = guards.filter((guard) => guard !== ZERO_ADDRESS);
    const isKnownHandler = KNOWN_HANDLERS.includes(handler.toLowerCase());
    return {
      kind: "safe",
      version: version.slice(0, 20),
      official: isSafesCode && modules.length === 0 && found.length === 0 && isKnownHandler,
      isAtItsAddress: canonicalSafeAddress(owners, Number(threshold)).toLowerCase() === address.toLowerCase(),
      threshold: Number(threshold),
      owners,
      modules: modules.map((module) => module.toLowerCase() as Address),
      guards: found,
      handler: isSafesCode && !isKnownHandler ? handler : null,
    };
  } catch (error) {
    if (isUnanswered(error)) throw error;
    return { kind: "contract" };
  }
}

/**
 * The words of nodes for a call that the contract itself ended. The codes of such errors differ between nodes, and other
 * faults have the same codes.
 */
const ENDED =
  /revert|out ?of ?gas|opcode|bad instruction|jump|stack (under|over)flow|EVM error|VM execution/i;

/** Whether an error comes from the RPC, and not from a contract that is no Safe. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const kinds = [HttpRequestError, TimeoutError, RpcRequestError, RpcError];
  const found = error.walk((it) => kinds.some((kind) => it instanceof kind)) as BaseError | null;
  return found !== null && (found as { code?: unknown }).code !== 3 && !ENDED.test(found.details);
}

/**
 * Describes a guardian in words, such as "an official Safe 1.5.0: 2 of 3". A Safe in which somebody else than the
 * owners may act is not called official. If this is not certain, the text says so.
 */
export function describeGuardian(guardian: Guardian): string {
  if (guardian.kind === "contract") return "a contract, but not a Safe";
  if (guardian.kind === "key")
    return `an ordinary account${guardian.delegated ? " that runs another's code (EIP-7702)" : ""}, not a multisig`;
  const { official, isAtItsAddress, version, threshold, owners, modules, guards, handler } = guardian;
  const count = `${threshold} of ${owners.length}`;
  if (modules.length > 0) return `a Safe, ${version}, with modules that act without its owners: ${count}`;
  if (guards.length > 0) return `a Safe, ${version}, with a guard that can stop its owners: ${count}`;
  if (handler !== null)
    return `a Safe, ${version}, with another fallback handler than the canonical one of 1.5.0, and anybody can call this handler in the Safe's name: ${count}`;
  if (!official) return `a Safe, ${version}, that is not one of the canonical 1.5.0: ${count}`;
  const doubt =
    "; its storage is not verified, so its set-up may have hidden another owner or a module there";
  return `an official Safe ${version}: ${count}${isAtItsAddress ? "" : doubt}`;
}
