import hardhatConfig from "../hardhat.config.ts";

const { compilers } = hardhatConfig.solidity as unknown as {
  compilers: [{ settings: { evmVersion: string; optimizer: object } }];
};

/** The settings of solc for the shipped contracts. Contracts that only tests use have other settings. */
export const shippedSettings = compilers[0].settings;
