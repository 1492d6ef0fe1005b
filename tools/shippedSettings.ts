import hardhatConfig from "../hardhat.config.ts";

const { compilers } = hardhatConfig.solidity as unknown as {
  compilers: [{ settings: { evmVersion: string; optimizer: object } }];
};

/** What solc is told when it compiles the shipped contracts. Those that drive them in tests have other settings. */
export const shippedSettings = compilers[0].settings;
