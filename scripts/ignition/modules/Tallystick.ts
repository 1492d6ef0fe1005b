import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";

/**
 * Deploys HireEscrow for a token that exists, and AnchoredLedger.
 * Parameters: `token` (USDC's address), `guardian` (the multisig that may pause deposits), `providerId` (1 to 31 bytes).
 */
export default buildModule("Tallystick", (m) => {
  const token = m.getParameter<string>("token");
  const guardian = m.getParameter<string>("guardian");
  const providerId = m.getParameter<string>("providerId");
  const hireEscrow = m.contract("HireEscrow", [token, guardian, providerId]);
  const anchoredLedger = m.contract("AnchoredLedger");
  return { hireEscrow, anchoredLedger };
});
