import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";

/**
 * Deploys TestUSDC, HireEscrow for this token, and AnchoredLedger: for chains without USDC.
 * Parameters: `guardian` (the account that may pause deposits), `providerId` (1 to 31 bytes).
 */
export default buildModule("TallystickLocal", (m) => {
  const guardian = m.getParameter<string>("guardian");
  const providerId = m.getParameter<string>("providerId");
  const token = m.contract("TestUSDC");
  const hireEscrow = m.contract("HireEscrow", [token, guardian, providerId]);
  const anchoredLedger = m.contract("AnchoredLedger");
  return { token, hireEscrow, anchoredLedger };
});
