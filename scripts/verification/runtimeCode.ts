import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { type Abi, concat, encodeAbiParameters } from "viem";
import { repositoryRoot } from "../repositoryRoot.ts";

/** A contract as it was constructed somewhere. */
export type Construction = {
  initCode: Hex;
  abi: Abi;
  /** What the constructor was given, in its order. */
  values: readonly unknown[];
  address: Address;
  chainId: number;
};

/** The inputs of a contract's constructor. */
export function constructorInputs(abi: Abi): readonly { name?: string | undefined; type: string }[] {
  return abi.find((it) => it.type === "constructor")?.inputs ?? [];
}

/**
 * The code that a constructor leaves at this address of this chain: every immutable filled in by the constructor itself, run in
 * an EVM of our own. The init code is put where the contract is, and called: what a constructor returns is the code.
 */
export async function runtimeCode({ initCode, abi, values, address, chainId }: Construction): Promise<Hex> {
  const inputs = constructorInputs(abi);
  const hre = await createHardhatRuntimeEnvironment(
    { networks: { own: { type: "edr-simulated", chainType: "l1", chainId } } },
    {},
    repositoryRoot,
  );
  const connection = await hre.network.create("own");
  const { provider } = connection;
  try {
    // A constructor may ask whether its token is a contract.
    for (const [n, { type }] of inputs.entries()) {
      if (type === "address")
        await provider.request({ method: "hardhat_setCode", params: [values[n], "0x00"] });
    }
    const code = concat([initCode, encodeAbiParameters(inputs, values)]);
    await provider.request({ method: "hardhat_setCode", params: [address, code] });
    return (await provider.request({
      method: "eth_call",
      params: [{ to: address, data: "0x" }, "latest"],
    })) as Hex;
  } finally {
    await connection.close();
  }
}
