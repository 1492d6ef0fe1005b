import * as z from "zod";
import type { Address } from "../address.ts";

/**
 * Two registries of ERC-8004 that belong together: the feedback in one is about the identities in the other.
 */
export type Registries = { identity: Address; reputation: Address };

/** The registries of a public chain, from github.com/erc-8004/erc-8004-contracts. */
export type PublishedRegistries = Registries & {
  chainId: number;
  /** The first block that has an event of them, some blocks after their deployment; null if it is not published. */
  firstBlock: number | null;
};

export const PUBLISHED_REGISTRIES = {
  base: {
    chainId: 8453,
    identity: "0x8004a169fb4a3325136eb29fa0ceb6d2e539a432",
    reputation: "0x8004baa17c55a88189ae136b182e5fda19de9b63",
    firstBlock: 41_663_799,
  },
  "base-sepolia": {
    chainId: 84_532,
    identity: "0x8004a818bfb912233c491871b3d84c89a494bd9e",
    reputation: "0x8004b663056a597dffe9eccc1965a193b7388713",
    firstBlock: null,
  },
} as const satisfies { [name: string]: PublishedRegistries };

/**
 * The implementations behind the registries' proxies: version 2.0.0 of each registry. Only their events are
 * understood. Each has the same address on every chain (CREATE2).
 */
export const PUBLISHED_IMPLEMENTATIONS: readonly Address[] = [
  "0x7274e874ca62410a93bd8bf61c69d8045e399c02",
  "0x16e0fa7f7c56b9a767e34b192b51f921be31da34",
];

const PAIR = /^(0x[0-9a-fA-F]{40})=(0x[0-9a-fA-F]{40})$/;

/**
 * The setting `ERC8004_REGISTRIES`: the name of a public chain, or `IDENTITY=REPUTATION` with two addresses. For two
 * addresses, `chainId` and `firstBlock` are null.
 */
export const registriesSetting = z
  .string()
  .transform(
    (text, context): Registries & Pick<PublishedRegistries, "firstBlock"> & { chainId: number | null } => {
      if (Object.hasOwn(PUBLISHED_REGISTRIES, text))
        return PUBLISHED_REGISTRIES[text as keyof typeof PUBLISHED_REGISTRIES];
      const pair = PAIR.exec(text)?.map((part) => part.toLowerCase() as Address);
      if (pair !== undefined && pair[1] !== pair[2]) {
        const [, identity, reputation] = pair as [Address, Address, Address];
        return { identity, reputation, chainId: null, firstBlock: null };
      }
      const names = Object.keys(PUBLISHED_REGISTRIES).join(", ");
      context.addIssue({
        code: "custom",
        message: `must be one of ${names}, or IDENTITY=REPUTATION with two addresses`,
      });
      return z.NEVER;
    },
  );
