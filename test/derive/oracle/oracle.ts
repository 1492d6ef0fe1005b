import type { DeriveEvent } from "tallystick-derive/events";
import { defineParams, type Params } from "tallystick-protocol/records/params";
import { register } from "./agents.ts";
import { contest } from "./auditContests.ts";
import { findEligible } from "./auditEligible.ts";
import { join, leave, noAudits } from "./auditFacts.ts";
import { readPayout } from "./auditMoney.ts";
import { tickAudits } from "./auditRounds.ts";
import { rootOf } from "./clusters.ts";
import { expectedAudits } from "./expectedAudits.ts";
import type { Cluster, Facts } from "./facts.ts";
import { noFamilies, noteAfter, noteBefore } from "./families.ts";
import { type Expected, fieldsOf, partiesOf, tierFiguresOf, tierOf } from "./fields.ts";
import { attach, countEscrow, escrowOf } from "./hires.ts";
import { hubsOf, readRecord } from "./records.ts";
import { endPresumptions, readTransfer } from "./transfers.ts";

/** A present or former cluster. A cluster that was merged into another one has no members here. */
export type ExpectedCluster = { kind: string; merged_into: string | null; size: number; members: string[] };

export type ExpectedState = {
  agents: { [address: string]: Expected };
  clusters: { [id: string]: ExpectedCluster };
} & ReturnType<typeof expectedAudits>;

/**
 * A second, slow and simple derivation. It reads the log into plain arrays, searches all of them at every event, and
 * computes each field from its definition at the end. Signatures are assumed to be valid. It shares no code with the
 * incremental derivation.
 *
 * @param observe called with the facts after every event, for another oracle that uses these facts
 */
export function oracle(
  log: DeriveEvent[],
  observe?: (facts: Facts, event: DeriveEvent) => void,
): ExpectedState {
  const facts: Facts = {
    params: defineParams(),
    networks: [],
    tokenSets: new Map(),
    now: 0,
    at: { block: 0, log: null, seq: null },
    asOf: 0,
    transfers: [],
    escrows: new Map(),
    receipts: [],
    hires: [],
    ratings: [],
    telemetry: new Map(),
    listings: [],
    seenListings: new Set(),
    seenClaims: new Set(),
    boundLedgers: new Set(),
    consents: new Map(),
    claims: new Map(),
    handles: new Map(),
    audits: noAudits(),
    families: noFamilies(),
    agents: new Map(),
    hubs: new Set(),
    escrowContracts: new Set(),
    fundings: new Set(),
    groups: [],
    trips: [],
    clusters: [],
    hubsOnce: new Set(),
    widened: [],
  };
  for (const [index, event] of log.entries()) {
    facts.now = index;
    facts.at = {
      block: event.block,
      log: event.kind === "tick" ? null : event.log,
      seq: event.kind === "record" ? event.seq : null,
    };
    noteBefore(facts, event);
    const { params } = facts;
    read(facts, event);
    noteAfter(facts, event);
    findEligible(facts, event);
    settleTiers(facts, params);
    observe?.(facts, event);
  }
  return {
    agents: Object.fromEntries(
      [...facts.agents.keys()].map((address) => [address, fieldsOf(facts, address)]),
    ),
    clusters: Object.fromEntries(facts.clusters.map((it) => [it.id, tell(facts, it)])),
    ...expectedAudits(facts),
  };
}

/**
 * Computes the tier of every agent that is new or of which the event changed a figure, in the order of addresses. Fewer
 * capabilities or buyers are no such change. An agent that enters or leaves Tier 2 gets or loses its places on rosters.
 */
function settleTiers(facts: Facts, params: Params): void {
  const parties = partiesOf(facts);
  for (const [address, agent] of [...facts.agents].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { figures: last, tier: before } = agent;
    const figures = tierFiguresOf(facts, address, parties);
    agent.figures = figures;
    const isSame =
      last !== null &&
      last.successes === figures.successes &&
      last.rated === figures.rated &&
      last.isVerified === figures.isVerified;
    if (isSame && figures.capabilities <= last.capabilities && figures.buyers <= last.buyers) continue;
    agent.tier = tierOf(params, figures, before);
    if ((before === 2) === (agent.tier === 2)) continue;
    for (const { agent: by, operator, capabilities, isIn } of facts.audits.offers) {
      if (by !== address || !isIn) continue;
      for (const it of capabilities) (agent.tier === 2 ? join : leave)(facts, operator, it, address);
    }
  }
}

function tell({ clusters }: Facts, it: Cluster): ExpectedCluster {
  const { kind, mergedInto, size } = it;
  const members = clusters.flatMap((other) => (rootOf(other) === it ? [...other.members] : [])).sort();
  return { kind, merged_into: mergedInto?.id ?? null, size, members };
}

function read(facts: Facts, event: DeriveEvent): void {
  switch (event.kind) {
    case "params":
      facts.params = event.params;
      if (event.chainId !== undefined) facts.networks = [`eip155:${event.chainId}`, "base"];
      facts.hubs = hubsOf(event.params);
      return;
    case "transfer":
      readTransfer(facts, event);
      readPayout(facts, event);
      return;
    case "escrow.deposited":
      facts.escrowContracts.add(event.escrow);
      facts.escrows.set(event.escrowId, {
        id: event.escrowId,
        provider: event.provider,
        buyer: event.buyer,
        seller: event.seller,
        arbiter: event.arbiter,
        amount: BigInt(event.amount),
        depositedTime: event.time,
        delivered: false,
        hireId: event.hireId,
        nothingCame: false,
        outcome: "held",
        toSeller: 0n,
        feeRecipient: event.feeRecipient,
        fee: 0n,
        refundedBy: null,
        takenBack: false,
        settledTime: null,
        receipt: null,
        hire: null,
      });
      register(facts, event.buyer, event);
      // A receipt of other sides goes on waiting until its time is over.
      for (const receipt of facts.receipts) {
        const isOfBoth = receipt.agent === event.seller && receipt.buyer === event.buyer;
        if (isOfBoth && receipt.escrowId === event.escrowId) attach(facts, receipt, event);
      }
      return;
    case "escrow.delivered":
      escrowOf(facts, event.escrowId).delivered = true;
      return;
    case "escrow.released":
    case "escrow.refunded":
    case "escrow.timedOut": {
      const escrow = escrowOf(facts, event.escrowId);
      escrow.settledTime = event.time;
      if (event.kind === "escrow.released") {
        escrow.outcome = "released";
        escrow.toSeller = BigInt(event.toSeller);
        escrow.fee = BigInt(event.fee);
      } else {
        escrow.outcome = event.kind === "escrow.refunded" ? "refunded" : "timed_out";
        escrow.refundedBy = event.kind === "escrow.refunded" ? event.by : null;
      }
      const isOfAudits = facts.params.auditArbiters.some((it) => it === escrow.arbiter);
      // An arbiter acts for the buyer that chose it, unless it is an arbiter of audits.
      escrow.takenBack =
        escrow.outcome === "released"
          ? 2n * escrow.toSeller < escrow.amount
          : escrow.refundedBy === escrow.buyer ||
            (escrow.refundedBy !== null && escrow.refundedBy !== escrow.seller && !isOfAudits);
      const heard = escrow.receipt === null ? undefined : facts.telemetry.get(escrow.receipt.hash);
      escrow.nothingCame = heard?.latency === null && heard.allPassed === false;
      countEscrow(facts, event.escrowId, event);
      contest(facts, event, escrow);
      return;
    }
    case "record":
      readRecord(facts, event);
      return;
    case "tick": {
      const before = facts.asOf;
      facts.asOf = event.time;
      for (const receipt of facts.receipts) {
        const waits = receipt.escrowId !== null && facts.escrows.get(receipt.escrowId)?.receipt === receipt;
        if (receipt.status === "pending" && !waits && event.time > receipt.waitsUntil)
          receipt.status = "unmatched";
      }
      endPresumptions(facts);
      tickAudits(facts, event, before);
    }
  }
}
