import type { NetworkConnection } from "hardhat/types/network";
import tallystick from "./modules/Tallystick.ts";
import tallystickLocal from "./modules/TallystickLocal.ts";

export type DeployTallystickParameters = {
  /** A Hardhat connection to the chain (`network.connect()`), with the Ignition plugin loaded. */
  connection: NetworkConnection;
  /** USDC. Absent: a TestUSDC is deployed, which anybody can mint. */
  token?: string;
  /** The account that may pause deposits: a multisig. */
  guardian: string;
  /** The provider's id, as in the payment mode `platform_escrow:ID`; 1 to 31 bytes. */
  providerId: string;
};

export type DeployTallystickReturnType = { token: string; hireEscrow: string; anchoredLedger: string };

/** Deploys the contracts by Hardhat Ignition and returns their addresses. */
export async function deployTallystick({
  connection,
  token,
  guardian,
  providerId,
}: DeployTallystickParameters): Promise<DeployTallystickReturnType> {
  if (token === undefined) {
    const parameters = { TallystickLocal: { guardian, providerId } };
    const deployed = await connection.ignition.deploy(tallystickLocal, { parameters });
    return {
      token: await deployed.token.getAddress(),
      hireEscrow: await deployed.hireEscrow.getAddress(),
      anchoredLedger: await deployed.anchoredLedger.getAddress(),
    };
  }
  const parameters = { Tallystick: { token, guardian, providerId } };
  const deployed = await connection.ignition.deploy(tallystick, { parameters });
  return {
    token,
    hireEscrow: await deployed.hireEscrow.getAddress(),
    anchoredLedger: await deployed.anchoredLedger.getAddress(),
  };
}
