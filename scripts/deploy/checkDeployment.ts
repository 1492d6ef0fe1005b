import { readFileSync } from "node:fs";
import path from "node:path";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { createPublicClient, isAddressEqual } from "viem";
import { repositoryRoot } from "../repositoryRoot.ts";
import type { Deployment } from "./deployment.ts";

/** The part of a built artifact that is read here. Positions are in bytes. */
type Artifact = {
  deployedBytecode: Hex;
  immutableReferences?: Record<string, { start: number; length: number }[]>;
};

/**
 * Checks that the contracts of a deployment are compiled from this repository; only the values of immutables may differ. Also
 * checks that the escrow was made for this token, guardian and provider.
 *
 * @throws TallystickError `deployment_not_there`
 */
export async function checkDeployment(rpcUrl: string, deployment: Deployment): Promise<void> {
  const client = createPublicClient({ transport: rpcTransport(rpcUrl) });
  const { token, anchoredLedger, hireEscrow } = deployment;
  const codeAt = async (name: string, address: Address): Promise<Hex> => {
    const code = await client.getCode({ address });
    if (code === undefined || code === "0x") throw missing(`There is no code at ${address} (${name}).`);
    return code;
  };
  await codeAt("token", token);
  for (const [name, address] of [
    ["HireEscrow", hireEscrow.address],
    ["AnchoredLedger", anchoredLedger],
  ] as const) {
    if (!isCompiled(name, await codeAt(name, address))) {
      throw missing(`The code at ${address} is not that of ${name} in this repository.`);
    }
  }

  const read = (functionName: "token" | "guardian" | "providerId") =>
    client.readContract({ address: hireEscrow.address, abi: hireEscrowAbi, functionName });
  const [itsToken, itsGuardian, itsProvider] = await Promise.all([
    read("token"),
    read("guardian"),
    read("providerId"),
  ]);
  if (!isAddressEqual(itsToken as Address, token))
    throw missing(`The escrow is for the token ${itsToken}, not ${token}.`);
  if (!isAddressEqual(itsGuardian as Address, hireEscrow.guardian)) {
    throw missing(`The escrow's guardian is ${itsGuardian}, not ${hireEscrow.guardian}.`);
  }
  if (itsProvider !== hireEscrow.providerId) {
    throw missing(`The escrow's provider is "${itsProvider}", not "${hireEscrow.providerId}".`);
  }
}

/**
 * Whether code on a chain is the compiled code of a contract here. The values of immutables do not matter.
 */
export function isCompiled(name: string, code: Hex): boolean {
  const file = path.join(repositoryRoot, "artifacts", "contracts", `${name}.sol`, `${name}.json`);
  const { deployedBytecode, immutableReferences = {} }: Artifact = JSON.parse(readFileSync(file, "utf8"));
  if (code.length !== deployedBytecode.length) return false;
  const blank = (hex: Hex) => {
    const bytes = Buffer.from(hex.slice(2), "hex");
    for (const { start, length } of Object.values(immutableReferences).flat())
      bytes.fill(0, start, start + length);
    return bytes;
  };
  return blank(code).equals(blank(deployedBytecode));
}

function missing(message: string): TallystickError {
  return new TallystickError({
    code: "deployment_not_there",
    message,
    hint: "Check that the RPC URL leads to the chain of the deployment, and that its node is up to date.",
  });
}
