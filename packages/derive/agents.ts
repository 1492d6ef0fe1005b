import { agentRow, findAgent, insertAgent } from "./agentRow.ts";
import { evaluateFundings } from "./funding/fundings.ts";
import { joinAsFunder } from "./funding/trips.ts";
import { listLength } from "./lists.ts";
import { standingOf } from "./standing.ts";
import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";
import { isHubOrEscrow } from "./wallets.ts";

/** Where an agent stands without a hire. */
const NO_STANDING = standingOf({
  trustTier: 0,
  ratedWeight: "0",
  successWeight: "0",
  windowWeight: "0",
  avgStars: null,
  privateListings: 0,
});

/**
 * The agent, registered now if it was not: signers of valid listings, buyers and sellers of counted hires and buyers of
 * escrow deposits are agents from their first appearance on. Null for hubs and escrows, which never are.
 */
export async function ensureAgent(step: Step, address: string): Promise<Row<"agent"> | null> {
  const found = await findAgent(step, address);
  if (found !== null) return found;
  if (await isHubOrEscrow(step, address)) return null;

  insertAgent(step, {
    id: address,
    registeredBlock: step.at.block,
    registeredTime: step.at.time,
    registeredLog: step.at.log ?? 0,
    liveListings: 0,
    privateListings: 0,
    claimStatus: (await step.store.get("claim", address))?.status ?? "unclaimed",
    trustTier: 0,
    tierChanges: 0,
    ownershipCluster: null,
    fingerprintCluster: null,
    fingerprint: null,
    fingerprintPlace: 0,
    signalsTripped: "",
    freeHires: await listLength(step.store, freeHiresOf(address)),
    windowHires: 0,
    windowWeight: "0",
    ratedWeight: "0",
    successWeight: "0",
    escrowWeight: "0",
    refundedWeight: "0",
    auditDisputedWeight: "0",
    latencies: 0,
    latencySum: 0n,
    latencyP50: null,
    latencyP95: null,
    latencyP99: null,
    avgStars: null,
    totalRatings: 0,
    firstStarDay: 0,
    dayVolume: "0",
    capabilities: 0,
    lastCapability: null,
    distinctBuyers: 0,
    bought: 0,
    escrowBought: 0,
    silentTimeouts: 0,
    refundsAfterDelivery: 0,
    sellers: 0,
    lastSeller: null,
    ...NO_STANDING,
    touched: null,
  });
  // Fundings that came before the registration count from now on, with the times at which they came.
  await evaluateFundings(step, address);
  await joinAsFunder(step, address);
  return agentRow(step, address);
}

/** The list of an address's free hires as a seller, kept also while it is not an agent yet. */
export function freeHiresOf(seller: string): string {
  return `free/${seller}`;
}
