import { createRequire } from "node:module";
import hardhatEthers from "@nomicfoundation/hardhat-ethers";
import hardhatIgnitionEthers from "@nomicfoundation/hardhat-ignition-ethers";
import hardhatMocha from "@nomicfoundation/hardhat-mocha";
import hardhatNetworkHelpers from "@nomicfoundation/hardhat-network-helpers";
import hardhatTypechain from "@nomicfoundation/hardhat-typechain";
import { defineConfig } from "hardhat/config";
import type { HardhatPlugin } from "hardhat/types/plugins";

// The compiler comes from npm, so a build needs no download and is the same on every machine.
const compiler = {
  version: "0.8.37",
  path: createRequire(import.meta.url).resolve("solc/soljson.js"),
};
const settings = {
  evmVersion: "cancun",
  optimizer: { enabled: true, runs: 1_000_000 },
  // No hash of the comments in the bytecode: deterministic addresses change only when the code does.
  metadata: { bytecodeHash: "none" },
};

// What drives the contracts in tests goes through the older pipeline of solc, which takes far less time. None of
// these files creates a shipped contract by `new`: that would compile it another way than it is shipped (see Vm.sol).
const DRIVERS = [
  ...["AnchoredLedgerInvariants.t", "HireEscrowFuzz.t", "HireEscrowInvariants.t", "RelayedInvariants.t"],
  ...["EscrowHandler", "LedgerHandler", "RelayedHandler"],
].map((name) => `contracts/test/${name}.sol`);

// Hardhat compiles together what has the same settings, and takes each override for settings of its own.
const driversTogether: HardhatPlugin = {
  id: "drivers-together",
  hookHandlers: {
    config: async () => ({
      default: async () => ({
        resolveUserConfig: async (config, variable, next) => {
          const resolved = await next(config, variable);
          for (const { overrides } of Object.values(resolved.solidity.profiles)) {
            const [shared] = Object.values(overrides);
            for (const file of Object.keys(overrides)) if (shared) overrides[file] = shared;
          }
          return resolved;
        },
      }),
    }),
  },
};

export default defineConfig({
  // Without the plugin of chai's matchers: in every process that opens a chain they would make 5n equal "5".
  // test/contracts/support/chaiMatchers.ts gives them to the tests of the contracts.
  plugins: [
    hardhatEthers,
    hardhatIgnitionEthers,
    hardhatMocha,
    hardhatNetworkHelpers,
    hardhatTypechain,
    driversTogether,
  ],
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
    compilers: [{ ...compiler, settings: { ...settings, viaIR: true } }],
    overrides: Object.fromEntries(DRIVERS.map((file) => [file, { ...compiler, settings }])),
  },
});
