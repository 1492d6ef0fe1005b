import hardhatChaiMatchers from "@nomicfoundation/hardhat-ethers-chai-matchers";
import hre from "hardhat";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

let added: Promise<void> | undefined;

/**
 * Gives chai Hardhat's matchers, such as `revertedWithCustomError`, when the next chain opens. hardhat.config.ts
 * leaves them out: they also make `deep.equal` and `equal` take "5" for 5n and `closeTo` refuse fractions, for every test of
 * the process.
 */
export function addChaiMatchers(environment: HardhatRuntimeEnvironment = hre): Promise<void> {
  added ??= register(environment);
  return added;
}

async function register({ hooks }: HardhatRuntimeEnvironment): Promise<void> {
  const factory = await hardhatChaiMatchers.hookHandlers?.network?.();
  if (factory === undefined)
    throw new Error("the plugin of the matchers has no handlers of networks any more");
  hooks.registerHandlers("network", await factory.default());
}
