import path from "node:path";
import { hexlify } from "ethers";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { leafHash } from "tallystick-protocol/merkle/hash";
import type { Abi, Hex } from "viem";
import { deployContracts } from "../../../scripts/deploy/deployContracts.ts";
import type { Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { SpelledOutTree } from "../../contracts/support/rfc6962.ts";
import { CHAIN_ID, newWallet, startLocalChain } from "../../indexer/support/localChain.ts";
import type { ForkSettings } from "./forkSettings.ts";

const ORIGIN = "fork.example/ledger";
/** The sizes that the writer anchors. The second 3 is a heartbeat. */
const SIZES = [1n, 3n, 3n, 8n];

/**
 * Starts a local chain in place of a live one. The chain has our contracts as `tallystick deploy` deploys them, with a
 * Safe as guardian. It also has a USDC with an administrator, and a ledger with a history.
 */
export async function startLiveDeployment(supervisor: Supervisor, folder: string): Promise<ForkSettings> {
  const chain = await startLocalChain(supervisor, folder);
  const token = await chain.deployToken("tokens/AdministeredUSDC", [newWallet().address]);
  const { hireEscrow, anchoredLedger } = await deployContracts({
    rpcUrl: chain.rpcUrl,
    chainId: CHAIN_ID,
    token,
    guardianOwners: [newWallet().address, newWallet().address, newWallet().address],
    providerId: "live",
    journal: path.join(folder, "journal"),
  });

  const writer = chain.relayer;
  const guardian = newWallet().address;
  const id = ledgerId({ chainId: CHAIN_ID, contract: anchoredLedger, writer, guardian, origin: ORIGIN });
  const call = (name: string, args: unknown[]) =>
    chain.send(anchoredLedger, anchoredLedgerAbi as Abi, name, args);
  await call("open", [ORIGIN, writer, guardian]);
  const leaves = Array.from({ length: 8 }, (_, i) => leafHash(Buffer.from([i])));
  const tree = new SpelledOutTree(leaves.map((leaf, i) => [BigInt(i), leaf]));
  let from = 0n;
  for (const size of SIZES) {
    const proof = from === 0n || from === size ? [] : tree.consistencyProof(from, size);
    await call("anchor", [id, size, hex(tree.root(0n, size)), proof.map(hex), "0x"]);
    from = size;
  }
  return { url: chain.rpcUrl, escrow: hireEscrow.address, ledger: anchoredLedger };
}

function hex(bytes: Uint8Array): Hex {
  return hexlify(bytes) as Hex;
}
