import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";

/** Deploys TestUSDC, a token for chains without USDC, which anybody can mint. */
export default buildModule("TestToken", (m) => ({ token: m.contract("TestUSDC") }));
