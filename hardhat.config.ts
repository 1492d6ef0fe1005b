import { createRequire } from "node:module";
import hardhatEthers from "@nomicfoundation/hardhat-ethers";
import hardhatIgnitionEthers from "@nomicfoundation/hardhat-ignition-ethers";
import hardhatMocha from "@nomicfoundation/hardhat-mocha";
import hardhatNetworkHelpers from "@nomicfoundation/hardhat-network-helpers";
import hardhatTypechain from "@nomicfoundation/hardhat-typechain";
import { defineConfig } from "hardhat/config";

// The compiler comes from npm, so a build needs no download and is the same on every machine.
const solc = createRequire(import.meta.url).resolve("solc/soljson.js");

export default defineConfig({
  // Without the plugin of chai's matchers: in every process that opens a chain they would make 5n equal "5".
  // test/contracts/support/chaiMatchers.ts gives them to the tests of the contracts.
  plugins: [hardhatEthers, hardhatIgnitionEthers, hardhatMocha, hardhatNetworkHelpers, hardhatTypechain],
  paths: {
    sources: "./contracts",
    ignition: "./scripts/ignition",
    tests: { mocha: "./test/contracts", solidity: "./contracts/test" },
  },
  test: {
    solidity: {
      fuzz: { runs: 512 },
      invariant: { runs: 32, depth: 200 },
      // Each invariant run appends what it did; tools/testing/invariantCoverage.ts sums it up.
      fsPermissions: { writeFile: ["./cache/invariantCoverage.jsonl"] },
    },
  },
  solidity: {
    version: "0.8.37",
    path: solc,
    settings: {
      evmVersion: "cancun",
      viaIR: true,
      optimizer: { enabled: true, runs: 1_000_000 },
      // No hash of the comments in the bytecode: deterministic addresses change only when the code does.
      metadata: { bytecodeHash: "none" },
    },
  },
});
