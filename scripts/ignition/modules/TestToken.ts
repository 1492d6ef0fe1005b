import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";

/** TestUSDC, which anybody can mint: for chains without USDC. */
export default buildModule("TestToken", (m) => ({ token: m.contract("TestUSDC") }));
