import type { Hex } from "tallystick-protocol/hex";

/** The contracts of ERC-8004 as their authors publish them, version 2.0.0. */
export const PUBLISHED_SOURCE = {
  repository: "erc-8004/erc-8004-contracts on GitHub",
  commit: "b9e466c",
} as const;

/**
 * The hashes of their code (see `codeHash`), compiled with the settings of their own repository. The code itself is not
 * here: the tester provides it.
 */
export const PUBLISHED_REGISTRIES_CODE = {
  IdentityRegistryUpgradeable: {
    creation: "0x8bc588dbbe7f5be253783a9ea003ead08879f1f15c4119e56c46440276bc5e9e",
    runtime: "0x6a035e2721ffdb11e98c8bd1d82404292499be4a06efdb455ab9a3d942b3e6b0",
  },
  ReputationRegistryUpgradeable: {
    creation: "0x576b9500f7272187adb9dc68cc0a889ca49aef6178f100ef09d7e96e8d8eb517",
    runtime: "0xc2d05ab94f43f56a42bb36088c77a10e46afa14e7c6570d0576b178ee983f625",
  },
} as const satisfies { [contract: string]: { creation: Hex; runtime: Hex } };

export type PublishedRegistry = keyof typeof PUBLISHED_REGISTRIES_CODE;
