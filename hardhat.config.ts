import { createRequire } from "node:module";
import path from "node:path";
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
  // The bytecode has no hash of the sources. So deterministic addresses change only when the code does.
  metadata: { bytecodeHash: "none" },
};

// These test contracts are compiled by the older pipeline of solc, which takes far less time. None of them creates a
// shipped contract by `new`, because that contract would then be compiled in another way than for release (see Vm.sol).
// No published figure of gas comes from a transaction with one of them.
const DRIVERS = [
  ...["AnchoredLedgerInvariants.t", "HireEscrowFuzz.t", "HireEscrowInvariants.t", "RelayedInvariants.t"],
  ...["EscrowHandler", "LedgerHandler", "RelayedHandler"],
  ...["exploration/AbstractToken", "exploration/Explorer", "exploration/Puppet"],
  ...["tokens/AdministeredUSDC", "tokens/PlainPermitToken"],
].map((name) => `contracts/test/${name}.sol`);

// Hardhat compiles files with the same settings together, but treats every override as other settings. So this plugin
// gives all overrides the same settings object.
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

// The solver compiles the contracts of the proofs itself, and nothing runs them. To compile them here would take a
// fifth of a build's time.
const PROOFS = path.join(import.meta.dirname, "contracts", "test", "proofs", path.sep);
const withoutProofs: HardhatPlugin = {
  id: "without-proofs",
  hookHandlers: {
    solidity: async () => ({
      default: async () => ({
        build: (context, files, options, next) =>
          next(
            context,
            files.filter((file) => !file.startsWith(PROOFS)),
            options,
          ),
      }),
    }),
  },
};

export default defineConfig({
  // The plugin of chai's matchers is left out. In every process that opens a chain, it would make 5n equal "5".
  // test/contracts/support/chaiMatchers.ts gives these matchers to the tests of the contracts only.
  plugins: [
    hardhatEthers,
    hardhatIgnitionEthers,
    hardhatMocha,
    hardhatNetworkHelpers,
    hardhatTypechain,
    driversTogether,
    withoutProofs,
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
      // Each invariant run appends its results to this file. tools/testing/invariantCoverage.ts adds them up.
      fsPermissions: { writeFile: ["./cache/invariantCoverage.jsonl"] },
    },
  },
  solidity: {
    compilers: [{ ...compiler, settings: { ...settings, viaIR: true } }],
    overrides: Object.fromEntries(DRIVERS.map((file) => [file, { ...compiler, settings }])),
  },
});
