import hardhatChaiMatchers from "@nomicfoundation/hardhat-ethers-chai-matchers";
import hre from "hardhat";
import type { HardhatRuntimeEnvironment } from "hardhat/types/hre";

let added: Promise<void> | undefined;

/**
 * Adds Hardhat's matchers, such as `revertedWithCustomError`, to chai when the next chain opens. hardhat.config.ts does not
 * add them, because they also change chai for every test of the process: `deep.equal` and `equal` treat "5" as equal to
 * 5n, and `closeTo` refuses fractions.
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
