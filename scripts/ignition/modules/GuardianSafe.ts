import { createRequire } from "node:module";
import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";
import type { Artifact } from "hardhat/types/artifacts";

const require = createRequire(import.meta.url);

/** An artifact of `@safe-global/safe-smart-account`, as its authors compiled it. */
export function safeArtifact(file: string): Artifact {
  return require(`@safe-global/safe-smart-account/build/artifacts/contracts/${file}.json`);
}

const ZERO_ADDRESS = `0x${"00".repeat(20)}`;

/**
 * The guardian, a Safe 1.5.0. Every call needs the confirmation of `threshold` of the `owners`. SHP §7.4 asks for
 * 2 of 3: two maintainers and an independent auditor. Parameters: `owners`, `threshold`, `salt` (a different salt
 * gives the same owners a different Safe).
 */
export default buildModule("GuardianSafe", (m) => {
  const owners = m.getParameter<string[]>("owners");
  const threshold = m.getParameter<number>("threshold", 2);
  const salt = m.getParameter<number>("salt", 0);

  const singleton = m.contract("Safe", safeArtifact("Safe.sol/Safe"), [], { id: "Singleton" });
  const factory = m.contract(
    "SafeProxyFactory",
    safeArtifact("proxies/SafeProxyFactory.sol/SafeProxyFactory"),
  );
  const handler = m.contract(
    "CompatibilityFallbackHandler",
    safeArtifact("handler/CompatibilityFallbackHandler.sol/CompatibilityFallbackHandler"),
  );
  // The handler lets the Safe answer ERC-1271. There is no module and no payment.
  const setup = m.encodeFunctionCall(singleton, "setup", [
    owners,
    threshold,
    ZERO_ADDRESS,
    "0x",
    handler,
    ZERO_ADDRESS,
    0,
    ZERO_ADDRESS,
  ]);
  const creation = m.call(factory, "createProxyWithNonce", [singleton, setup, salt]);
  const proxy = m.readEventArgument(creation, "ProxyCreation", "proxy");
  const guardian = m.contractAt("Safe", safeArtifact("Safe.sol/Safe"), proxy, { id: "Guardian" });
  return { guardian };
});
