import { createHardhatRuntimeEnvironment } from "hardhat/hre";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { type Abi, concat, encodeAbiParameters } from "viem";
import { repositoryRoot } from "../repositoryRoot.ts";

/** How a contract was constructed on some chain. */
export type Construction = {
  initCode: Hex;
  abi: Abi;
  /** The constructor's arguments, in order. */
  values: readonly unknown[];
  address: Address;
  chainId: number;
};

/** The inputs of a contract's constructor. */
export function constructorInputs(abi: Abi): readonly { name?: string | undefined; type: string }[] {
  return abi.find((it) => it.type === "constructor")?.inputs ?? [];
}

/**
 * Computes the runtime code of a contract, with all its immutables. It runs the constructor in a local EVM
 * with the same address and chain id. The init code is stored at the address as if it were runtime code, and
 * then called. The call returns the runtime code, because a constructor returns it.
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
    // A constructor may check that its token is a contract, so each address argument gets some code.
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
