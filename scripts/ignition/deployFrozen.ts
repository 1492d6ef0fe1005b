import type { NetworkConnection } from "hardhat/types/network";
import { RELEASE_SALT } from "tallystick-protocol/releaseAddress";
import type { DeployTallystickReturnType } from "./deployTallystick.ts";
import { frozenAddresses } from "./frozenAddresses.ts";
import { frozenAnchoredLedger, frozenHireEscrow } from "./modules/FrozenContracts.ts";

export type DeployFrozenParameters = {
  /** A Hardhat connection to the chain, with the Ignition plugin loaded. */
  connection: NetworkConnection;
  /** USDC on that chain. */
  token: string;
  /** The account that may pause deposits: a multisig. */
  guardian: string;
  /** The provider's id, as in the payment mode `platform_escrow:ID`; 1 to 31 bytes. */
  providerId: string;
  /** 32 bytes; another salt gives other addresses. Default {@link RELEASE_SALT}. */
  salt?: string;
};

/**
 * Deploys the frozen contracts through CreateX by Hardhat Ignition, to addresses that depend only on the
 * arguments. A contract that somebody deployed there before is used, because no other contract can have that
 * address. On a local chain CreateX is deployed first.
 */
export async function deployFrozen(parameters: DeployFrozenParameters): Promise<DeployTallystickReturnType> {
  const { connection, token, guardian, providerId, salt = RELEASE_SALT } = parameters;
  const addresses = frozenAddresses({ token, guardian, providerId, salt });
  const strategy = { strategy: "create2", strategyConfig: { salt } } as const;
  const there = async (address: string) => (await connection.ethers.provider.getCode(address)) !== "0x";

  if (!(await there(addresses.hireEscrow))) {
    const values = { FrozenHireEscrow: { token, guardian, providerId } };
    const { hireEscrow } = await connection.ignition.deploy(frozenHireEscrow, {
      parameters: values,
      ...strategy,
    });
    requireSame(await hireEscrow.getAddress(), addresses.hireEscrow);
  }
  if (!(await there(addresses.anchoredLedger))) {
    const { anchoredLedger } = await connection.ignition.deploy(frozenAnchoredLedger, strategy);
    requireSame(await anchoredLedger.getAddress(), addresses.anchoredLedger);
  }
  return addresses;
}

function requireSame(actual: string, expected: string): void {
  if (actual !== expected) throw new Error(`Deployed at ${actual} instead of ${expected}.`);
}
