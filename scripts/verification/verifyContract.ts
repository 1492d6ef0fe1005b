import type { Address } from "tallystick-protocol/address";
import { fromHex, type Hex } from "tallystick-protocol/hex";
import { releaseAddress } from "tallystick-protocol/releaseAddress";
import type { Abi, PublicClient } from "viem";
import { concat, encodeAbiParameters, keccak256 } from "viem";
import { type FrozenName, inputSource, readFrozen, readFrozenInput } from "../ignition/frozenContract.ts";
import { type Compiled, compileInput } from "./compileInput.ts";
import { constructorInputs, runtimeCode } from "./runtimeCode.ts";

/** The result of comparing a contract on a chain with its source. */
export type VerifiedContract = {
  contract: FrozenName;
  address: Address;
  /** The constructor's arguments by name. The code on chain contains these values. */
  values: { [name: string]: string };
  /** The constructor's arguments, encoded in the form that explorers ask for. */
  constructorArguments: Hex;
  /**
   * Whether the address follows from the init code and its arguments, so that only this constructor wrote the contract's
   * storage: see `releaseAddress`.
   */
  isAtItsAddress: boolean;
  compiler: string;
  /** One sentence for each difference; none if the contract matches its source. */
  differences: string[];
};

/** A contract's code for the comparison, and a sentence for each difference from the frozen code. */
export type CompiledFrozen = { compiled: Compiled; differences: string[] };

/** Compiles the frozen source of a contract, and lists its differences from the frozen code. */
export function compileFrozen(name: FrozenName): CompiledFrozen {
  const frozen = readFrozen(name);
  const compiled = compileInput(readFrozenInput(name), inputSource(name), name);
  const differences: string[] = [];
  if (compiled.compiler !== frozen.compiler.version)
    differences.push(
      `The compiler here is ${compiled.compiler}, but ${frozen.compiler.version} made the frozen code.`,
    );
  if (compiled.initCode !== frozen.initCode)
    differences.push(
      `contracts/frozen/${name}.input.json does not compile to the init code in ${name}.json.`,
    );
  if (keccak256(frozen.initCode as Hex) !== frozen.initCodeHash)
    differences.push(`The initCodeHash in contracts/frozen/${name}.json is not the hash of its initCode.`);
  return { compiled, differences };
}

/**
 * Compares a contract on a chain with its compiled source, with its immutables filled in. Also compares its
 * address with the one that CreateX gives it.
 *
 * @param compiled the result of {@link compileFrozen}
 * @param isPlain whether it was deployed with `--plain`. Then another address is no difference
 */
export async function verifyContract(
  client: PublicClient,
  {
    name,
    address,
    chainId,
    compiled,
    isPlain = false,
  }: { name: FrozenName; address: Address; chainId: number; compiled: Compiled; isPlain?: boolean },
): Promise<VerifiedContract> {
  const result: VerifiedContract = {
    contract: name,
    address,
    values: {},
    constructorArguments: "0x",
    isAtItsAddress: false,
    compiler: compiled.compiler,
    differences: [],
  };
  const code = (await client.getCode({ address })) ?? "0x";
  if (code === "0x") {
    result.differences.push(`There is no code at ${address}.`);
    return result;
  }
  const { abi, initCode } = compiled;
  const inputs = constructorInputs(abi);
  const values = await readValues(client, address, abi);
  if (values === undefined) {
    result.differences.push(`The contract at ${address} does not answer what ${name} answers.`);
    return result;
  }
  inputs.forEach(({ name: input = "" }, n) => {
    result.values[getterOf(input)] = String(values[n]);
  });
  result.constructorArguments = encodeAbiParameters(inputs, values);
  const expected = await runtimeCode({ initCode, abi, values, address, chainId });
  if (code !== expected) {
    result.differences.push(describeDifference(name, address, code, expected));
    return result;
  }
  result.isAtItsAddress =
    releaseAddress(fromHex(concat([initCode, result.constructorArguments]))) === address;
  if (!result.isAtItsAddress && !isPlain) result.differences.push(describeStrangeAddress(name, address));
  return result;
}

/** The getter of a constructor's parameter: `token_` is what `token()` answers. */
function getterOf(parameter: string): string {
  return parameter.replace(/^_+|_+$/g, "");
}

/**
 * Asks the contract for its constructor values. The answers are then compared with the code, which contains
 * the values.
 */
async function readValues(client: PublicClient, address: Address, abi: Abi): Promise<unknown[] | undefined> {
  try {
    return await Promise.all(
      constructorInputs(abi).map(({ name = "" }) =>
        client.readContract({ address, abi, functionName: getterOf(name) }),
      ),
    );
  } catch {
    return undefined;
  }
}

function describeStrangeAddress(name: string, address: Address): string {
  return (
    `The code at ${address} is that of ${name}, but not at the address that it gets through CreateX. So another constructor ` +
    "may have put it there, and written anything into its storage before. Give --plain if you deployed it with --plain."
  );
}

function describeDifference(name: string, address: Address, code: Hex, expected: Hex): string {
  if (code.length !== expected.length) {
    const [found, wanted] = [code, expected].map((it) => it.length / 2 - 1);
    return `The code at ${address} is not that of ${name}: ${found} bytes instead of ${wanted}.`;
  }
  let first = 2;
  while (code[first] === expected[first]) first++;
  let count = 0;
  for (let n = 2; n < code.length; n += 2) if (code.slice(n, n + 2) !== expected.slice(n, n + 2)) count++;
  return `The code at ${address} is not that of ${name}: ${count} of its bytes are different, the first at position ${(first >> 1) - 1}.`;
}
