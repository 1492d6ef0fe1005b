import { STATE_ID } from "tallystick-derive/stateId";
import type { Row } from "tallystick-derive/tables";
import type { BlockedSegment, BlockedTransfers } from "../../operations.ts";
import { indexedBlock } from "../rows/checkpoint.ts";
import { followedLedgers } from "../rows/ledgers.ts";
import { firstTokenBlock } from "../rows/token.ts";
import { builder } from "./builder.ts";
import { LedgerRef } from "./ledger.ts";
import { paramsInForce } from "./paramsInForce.ts";

const USDC_DECIMALS = 6;

/** The most escrow contracts that are shown. A real operator names only a few. */
const MAX_ESCROWS = 1_000;

const BlockedSegmentRef = builder.objectRef<BlockedSegment>("BlockedSegment").implement({
  description:
    "Anchored entries that are not available, or that contradict their root. Nothing after that block is derived until they arrive.",
  fields: (t) => ({
    ledger: t.exposeID("ledger"),
    from: t.field({ type: "BigInt", resolve: ({ oldSize }) => oldSize }),
    to: t.field({ type: "BigInt", description: "Exclusive.", resolve: ({ newSize }) => newSize }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    since: t.field({ type: "SafeInt", resolve: ({ since }) => since }),
    attempts: t.exposeInt("attempts"),
    reason: t.exposeString("reason"),
  }),
});

const BlockedTransfersRef = builder.objectRef<BlockedTransfers>("BlockedTransfers").implement({
  description:
    "Transfers of the token that no source gives, or that do not add up to a balance on the chain. Nothing after that block is derived until they do.",
  fields: (t) => ({
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    since: t.field({ type: "SafeInt", resolve: ({ since }) => since }),
    attempts: t.exposeInt("attempts"),
    reason: t.exposeString("reason"),
    wallet: t.field({
      type: "Address",
      nullable: true,
      description: "The wallet whose transfers do not add up; null while no source answers.",
      resolve: ({ wallet }) => wallet,
    }),
  }),
});

type Token = { address: string; firstBlock: number | null; domain: { name: string; version: string } | null };

const TokenRef = builder.objectRef<Token>("Token").implement({
  description: "The token that hires are paid in.",
  fields: (t) => ({
    decimals: t.int({ resolve: () => USDC_DECIMALS }),
    domainName: t.string({
      nullable: true,
      description:
        "The name in the token's EIP-712 domain, which payers sign; null when it is not configured.",
      resolve: ({ domain }) => domain?.name ?? null,
    }),
    domainVersion: t.string({ nullable: true, resolve: ({ domain }) => domain?.version ?? null }),
    address: t.field({ type: "Address", resolve: ({ address }) => address }),
    firstBlock: t.field({
      type: "SafeInt",
      nullable: true,
      description:
        'The first block whose transfers are read; null before the first event. What a wallet "ever received" counts from this block.',
      resolve: ({ firstBlock }) => firstBlock,
    }),
  }),
});

type EscrowContract = [address: string, provider: string];
type Contracts = { anchoredLedger: string | null; escrows: EscrowContract[] };

const EscrowContractRef = builder.objectRef<EscrowContract>("EscrowContract").implement({
  description: "A HireEscrow that this node follows, and the provider that payment modes name.",
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: ([address]) => address }),
    provider: t.string({ resolve: ([, provider]) => provider }),
  }),
});

const ContractsRef = builder.objectRef<Contracts>("Contracts").implement({
  fields: (t) => ({
    anchoredLedger: t.field({
      type: "Address",
      nullable: true,
      description: "The contract in which ledgers are anchored; null when no ledger is followed.",
      resolve: ({ anchoredLedger }) => anchoredLedger,
    }),
    escrows: t.field({ type: [EscrowContractRef], resolve: ({ escrows }) => escrows }),
  }),
});

type Meta = { state: Row<"state"> | undefined };

export const MetaRef = builder.objectRef<Meta>("Meta").implement({
  description: "The state of this node.",
  fields: (t) => ({
    chainId: t.field({ type: "SafeInt", resolve: (_, __, { node }) => node.chainId }),
    token: t.field({
      type: TokenRef,
      resolve: async (_, __, { db, node }) => ({
        address: node.token,
        firstBlock: await firstTokenBlock(db),
        domain: node.tokenDomain ?? null,
      }),
    }),
    contracts: t.field({
      type: ContractsRef,
      description: "The contracts that this node reads.",
      resolve: async (_, __, context) => ({
        anchoredLedger: context.node.anchoredLedger ?? null,
        escrows: Object.entries((await paramsInForce(context))?.escrows ?? {}).slice(0, MAX_ESCROWS),
      }),
    }),
    block: t.field({
      type: "SafeInt",
      description: "The block of the last tick. Windows, expiries and the digest are as of this block.",
      resolve: ({ state }) => state?.block ?? 0,
    }),
    time: t.field({ type: "SafeInt", resolve: ({ state }) => state?.time ?? 0 }),
    digest: t.string({
      nullable: true,
      description:
        "One hash over everything that was derived up to the last tick. Nodes with the same parameters have the same digest.",
      resolve: ({ state }) => state?.digest ?? null,
    }),
    indexedBlock: t.field({
      type: "SafeInt",
      description: "The last block that was indexed.",
      resolve: (_, __, { db }) => indexedBlock(db),
    }),
    paramsVersion: t.field({
      type: "SafeInt",
      nullable: true,
      resolve: ({ state }) => state?.paramsVersion ?? null,
    }),
    ledgers: t.field({
      type: [LedgerRef],
      resolve: (_, __, { db }) => followedLedgers(db),
    }),
    blockedAtSegment: t.field({
      type: BlockedSegmentRef,
      nullable: true,
      resolve: (_, __, { operations }) => operations.readBlocked(),
    }),
    blockedAtTransfers: t.field({
      type: BlockedTransfersRef,
      nullable: true,
      resolve: (_, __, { operations }) => operations.readBlockedTransfers(),
    }),
  }),
});

builder.queryField("meta", (t) =>
  t.field({
    type: MetaRef,
    resolve: async (_, __, { load }) => ({ state: (await load.state.load(STATE_ID)) ?? undefined }),
  }),
);
