import { buildModule } from "@nomicfoundation/hardhat-ignition/modules";
import { frozenArtifact } from "../frozenContract.ts";

/**
 * Deploys the frozen HireEscrow. Parameters: `token`, `guardian`, `providerId` as in the module Tallystick.
 */
export const frozenHireEscrow = buildModule("FrozenHireEscrow", (m) => {
  const token = m.getParameter<string>("token");
  const guardian = m.getParameter<string>("guardian");
  const providerId = m.getParameter<string>("providerId");
  return {
    hireEscrow: m.contract("HireEscrow", frozenArtifact("HireEscrow"), [token, guardian, providerId]),
  };
});

/** Deploys the frozen AnchoredLedger. */
export const frozenAnchoredLedger = buildModule("FrozenAnchoredLedger", (m) => {
  return { anchoredLedger: m.contract("AnchoredLedger", frozenArtifact("AnchoredLedger")) };
});
