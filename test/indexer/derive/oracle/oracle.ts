import type { DeriveEvent, RecordEvent } from "../../../../indexer/src/derive/events.ts";
import { InvalidInputError } from "../../../../protocol/errors.ts";
import { parseClaim } from "../../../../protocol/records/claim.ts";
import { parseListing } from "../../../../protocol/records/listing.ts";
import { defineParams, parseParams } from "../../../../protocol/records/params.ts";
import { parseRating } from "../../../../protocol/records/rating.ts";
import { parseReceipt } from "../../../../protocol/records/receipt.ts";
import { parseTelemetry } from "../../../../protocol/records/telemetry.ts";
import type { Facts, Hire, Receipt, Transfer } from "./facts.ts";
import { type Expected, fieldsOf, tierOf } from "./fields.ts";
import { fingerprintStars, isLarge, noteFundings, sharedSize } from "./groups.ts";

const ZERO = `0x${"0".repeat(40)}`;

/**
 * The derivation once more, slow and obvious: reads the log into plain arrays, looks through all of them at every event,
 * and computes each field from its definition at the end. Signatures are taken as present. It shares no code with the
 * incremental one.
 */
export function oracle(log: DeriveEvent[]): Map<string, Expected> {
  const facts: Facts = {
    params: defineParams(),
    now: 0,
    asOf: 0,
    transfers: [],
    escrows: new Map(),
    receipts: [],
    hires: [],
    ratings: [],
    telemetry: new Map(),
    listings: [],
    seenListings: new Set(),
    boundLedgers: new Set(),
    consents: new Map(),
    claims: new Map(),
    agents: new Map(),
    hubs: new Set(),
    escrowContracts: new Set(),
    fundings: new Set(),
    groups: [],
  };
  for (const [index, event] of log.entries()) {
    facts.now = index;
    read(facts, event);
    noteFundings(facts);
    for (const [address, agent] of facts.agents) agent.tier = tierOf(facts, address, agent.tier);
  }
  return new Map([...facts.agents.keys()].map((address) => [address, fieldsOf(facts, address)]));
}

function read(facts: Facts, event: DeriveEvent): void {
  switch (event.kind) {
    case "params":
      facts.params = event.params;
      facts.hubs = new Set(event.params.hubs);
      return;
    case "transfer":
      readTransfer(facts, event);
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
        delivered: false,
        outcome: "held",
        toSeller: 0n,
        refundedBy: null,
        settledTime: null,
        receipt: null,
        hire: null,
      });
      register(facts, event.buyer, event);
      for (const receipt of facts.receipts)
        if (receipt.escrowId === event.escrowId) attach(facts, receipt, event);
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
      } else {
        escrow.outcome = event.kind === "escrow.refunded" ? "refunded" : "timed_out";
        escrow.refundedBy = event.kind === "escrow.refunded" ? event.by : null;
      }
      countEscrow(facts, event.escrowId, event);
      return;
    }
    case "record":
      readRecord(facts, event);
      return;
    case "tick":
      facts.asOf = event.time;
      for (const receipt of facts.receipts) {
        const waits = receipt.escrowId !== null && facts.escrows.get(receipt.escrowId)?.receipt === receipt;
        if (receipt.status === "pending" && !waits && event.time > receipt.waitsUntil)
          receipt.status = "unmatched";
      }
      for (const it of facts.transfers) {
        const { presumedUntil, claimed, plainFrom } = it;
        if (presumedUntil !== null && !claimed && plainFrom === null && event.time > presumedUntil) {
          it.plainFrom = facts.now;
          it.decided = true;
        }
      }
  }
}

function readTransfer(facts: Facts, event: Extract<DeriveEvent, { kind: "transfer" }>): void {
  const known = (address: string) => facts.hubs.has(address) || facts.escrowContracts.has(address);
  const before = facts.transfers.filter((it) => it.to === event.to).reduce((sum, it) => sum + it.value, 0n);
  const value = BigInt(event.value);
  const alike = facts.transfers.filter(
    (it) =>
      it.mayBePayment &&
      it.ordinary &&
      it.tx === event.tx &&
      it.from === event.from &&
      it.to === event.to &&
      it.value === value,
  );
  const transfer: Transfer = {
    index: facts.now,
    block: event.block,
    log: event.log,
    time: event.time,
    from: event.from,
    to: event.to,
    value,
    tx: event.tx,
    authorized: event.authorized,
    ordinary: event.from !== ZERO && !known(event.from) && !known(event.to),
    receivedSoFar: before + value,
    large: isLarge(facts, value, before + value),
    presumedUntil:
      event.authorized && facts.listings.some((it) => it.agent === event.to && it.live)
        ? event.time + facts.params.reconcileSeconds
        : null,
    mayBePayment: value >= BigInt(facts.params.minHireAtomic) && alike.length < 100,
    claimed: false,
    decided: false,
    plainFrom: null,
  };
  facts.transfers.push(transfer);
  if (!transfer.ordinary) return;
  for (const receipt of facts.receipts) {
    if (receipt.status === "pending" && pays(facts, transfer, receipt))
      countDirect(facts, receipt, transfer, event);
  }
  const waits = transfer.presumedUntil !== null && transfer.mayBePayment;
  if (!transfer.claimed && !waits) transfer.plainFrom = facts.now;
}

function pays(facts: Facts, it: Transfer, receipt: Receipt): boolean {
  if (it.claimed || !it.ordinary || !it.mayBePayment) return false;
  if (receipt.escrowId !== null || it.tx !== receipt.tx || it.from !== receipt.buyer) return false;
  if (it.to !== receipt.payee || it.value !== receipt.amount) return false;
  if (receipt.logIndex !== null && receipt.logIndex !== it.log) return false;
  if (!it.authorized && !receipt.buyerSigned) return false;
  const consent = facts.consents.get(`${receipt.agent}/${receipt.payee}`);
  const consented =
    consent !== undefined &&
    (consent.block < it.block || (consent.block === it.block && consent.log < it.log));
  return receipt.payee === receipt.agent || consented;
}

function countDirect(facts: Facts, receipt: Receipt, it: Transfer, at: Place): void {
  if (isTaken(facts, receipt)) {
    receipt.status = "duplicate";
    return;
  }
  it.claimed = true;
  const heard = facts.telemetry.get(receipt.hash);
  const passed = receipt.buyerSigned ? receipt.allPassed : (heard?.allPassed ?? receipt.allPassed);
  const hire = count(facts, at, {
    ...blank,
    seller: receipt.agent,
    buyer: receipt.buyer,
    capability: receipt.capability,
    price: receipt.amount,
    amount: receipt.amount,
    outcome: passed ? "success" : "failure",
    latency: heard?.latency ?? receipt.latency,
    time: it.time,
  });
  if (hire === null) receipt.status = "unmatched";
  else close(facts, receipt, hire);
}

const blank = {
  escrow: null,
  refunded: false,
  byAudit: false,
  silentTimeout: false,
  refundAfterDelivery: false,
};

function attach(facts: Facts, receipt: Receipt, at: Place): void {
  const escrow = facts.escrows.get(receipt.escrowId ?? "");
  if (escrow === undefined || receipt.status !== "pending" || escrow.receipt === receipt) return;
  if (escrow.seller !== receipt.agent || escrow.buyer !== receipt.buyer) receipt.status = "unmatched";
  else if (escrow.receipt !== null || isTaken(facts, receipt)) receipt.status = "duplicate";
  else {
    escrow.receipt = receipt;
    if (escrow.hire === null) {
      countEscrow(facts, escrow.id, at);
      return;
    }
    escrow.hire.capability = receipt.capability;
    escrow.hire.latency = facts.telemetry.get(receipt.hash)?.latency ?? receipt.latency;
    close(facts, receipt, escrow.hire);
  }
}

function countEscrow(facts: Facts, id: string, at: Place): void {
  const escrow = escrowOf(facts, id);
  if (escrow.settledTime === null || escrow.hire !== null) return;
  if (escrow.amount < BigInt(facts.params.minHireAtomic)) return;
  if (escrow.receipt !== null && isTaken(facts, escrow.receipt)) {
    escrow.receipt.status = "duplicate";
    escrow.receipt = null;
  }
  const { receipt } = escrow;
  if (receipt === null && !escrow.delivered) return;
  const { outcome, delivered } = escrow;
  const won = outcome === "released" && 2n * escrow.toSeller >= escrow.amount;
  const byThird =
    outcome === "refunded" && escrow.refundedBy !== escrow.buyer && escrow.refundedBy !== escrow.seller;
  escrow.hire = count(facts, at, {
    seller: escrow.seller,
    buyer: escrow.buyer,
    capability: receipt?.capability ?? null,
    price: escrow.toSeller,
    amount: escrow.amount,
    outcome: outcome === "timed_out" && delivered ? "neutral" : won ? "success" : "failure",
    escrow,
    refunded: outcome !== "released",
    byAudit: byThird && facts.params.auditArbiters.some((it) => it === escrow.arbiter),
    silentTimeout: outcome === "timed_out" && delivered,
    refundAfterDelivery: outcome === "refunded" && escrow.refundedBy === escrow.buyer && delivered,
    latency: receipt === null ? null : (facts.telemetry.get(receipt.hash)?.latency ?? receipt.latency),
    time: escrow.settledTime,
  });
  if (receipt !== null && escrow.hire !== null) close(facts, receipt, escrow.hire);
}

function count(
  facts: Facts,
  at: Place,
  hire: Omit<Hire, "size" | "leavesWindow" | "leavesDay">,
): Hire | null {
  if (!register(facts, hire.seller, at) || !register(facts, hire.buyer, at)) return null;
  const counted = {
    ...hire,
    size: sharedSize(facts, hire.buyer, hire.seller),
    leavesWindow: hire.time + facts.params.windowSeconds,
    leavesDay: hire.time + facts.params.volumeWindowSeconds,
  };
  facts.hires.push(counted);
  return counted;
}

function close(facts: Facts, receipt: Receipt, hire: Hire): void {
  receipt.status = "counted";
  receipt.hire = hire;
  for (const it of facts.ratings) {
    if (it.receipt !== receipt) continue;
    it.size = sharedSize(facts, hire.buyer, hire.seller);
    it.leavesWindow = it.time + facts.params.windowSeconds;
  }
}

function isTaken(facts: Facts, receipt: Receipt): boolean {
  return facts.receipts.some(
    (it) => it.status === "counted" && it.agent === receipt.agent && it.hireId === receipt.hireId,
  );
}

type Place = { block: number; time: number; log: number };

function register(facts: Facts, address: string, at: Place): boolean {
  if (facts.agents.has(address)) return true;
  if (facts.hubs.has(address) || facts.escrowContracts.has(address)) return false;
  const { block, time, log } = at;
  facts.agents.set(address, { index: facts.now, block, time, log, tier: 0 });
  return true;
}

function escrowOf(facts: Facts, id: string) {
  const escrow = facts.escrows.get(id);
  if (escrow === undefined) throw new Error(`no escrow ${id}`);
  return escrow;
}

/** A body that a schema refuses says nothing. */
function readRecord(facts: Facts, event: RecordEvent): void {
  if (!isMeant(facts, event)) return;
  try {
    readMeant(facts, event);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
  }
}

/** Whether the words were signed as what they stand for, where they stand; before there was a way to say so, in any case. */
function isMeant(facts: Facts, { type, body, ledger }: RecordEvent): boolean {
  if (type === "listing" || type === "receipt") return true;
  const keys = Object.keys(body);
  if (keys.includes("type") || keys.includes("ledger")) {
    if (body.type !== type || body.ledger !== ledger) return false;
    facts.boundLedgers.add(ledger);
    return true;
  }
  return !facts.boundLedgers.has(ledger) && !facts.params.boundLedgers.some((it) => it === ledger);
}

function readMeant(facts: Facts, event: RecordEvent): void {
  switch (event.type) {
    case "params":
      readParams(facts, event);
      return;
    case "listing":
      readListing(facts, event);
      return;
    case "receipt":
      readReceipt(facts, event);
      return;
    case "rating": {
      const { receipt: hash, side, stars } = parseRating(event.body);
      const receipt = facts.receipts.find((it) => it.hash === hash);
      if (receipt === undefined || event.signer !== (side === "buyer" ? receipt.buyer : receipt.agent))
        return;
      if (facts.ratings.some((it) => it.receipt === receipt && it.side === side)) return;
      const size = receipt.hire === null ? null : sharedSize(facts, receipt.buyer, receipt.agent);
      const leavesWindow = event.time + facts.params.windowSeconds;
      facts.ratings.push({ receipt, side, stars, time: event.time, size, leavesWindow });
      return;
    }
    case "telemetry": {
      const { receipt: hash, latency_ms: latency = null, verification } = parseTelemetry(event.body);
      const receipt = facts.receipts.find((it) => it.hash === hash);
      if (receipt === undefined || event.signer !== receipt.buyer || facts.telemetry.has(receipt.hash))
        return;
      const allPassed = verification?.all_passed ?? null;
      facts.telemetry.set(receipt.hash, { latency, allPassed });
      if (receipt.hire === null) return;
      receipt.hire.latency = latency ?? receipt.hire.latency;
      if (receipt.hire.escrow === null && !receipt.buyerSigned && allPassed !== null) {
        receipt.hire.outcome = allPassed ? "success" : "failure";
      }
      return;
    }
    case "claim": {
      const { agent_id, state } = parseClaim(event.body);
      if (facts.params.claimAttestors.includes(event.signer)) facts.claims.set(agent_id, state);
    }
  }
}

function readParams(facts: Facts, event: RecordEvent): void {
  const params = parseParams(event.body);
  if (event.signer !== facts.params.operator || params.version <= facts.params.version) return;
  facts.params = params;
  const isNewHub = (it: string | null) =>
    it !== null && !facts.hubs.has(it) && params.hubs.some((hub) => hub === it);
  facts.groups = facts.groups.filter(({ funder }) => !isNewHub(funder));
  facts.hubs = new Set(params.hubs);
}

function readListing(facts: Facts, event: RecordEvent): void {
  const body = parseListing(event.body);
  const text = JSON.stringify(event.body, Object.keys(event.body).sort());
  if (event.signer !== body.agent_id) return;
  const own = facts.listings.filter((it) => it.agent === event.signer);
  const isNew = !own.some((it) => it.capability === body.capability && it.mode === body.payment_mode);
  if (isNew && own.length >= facts.params.maxListings) return;
  if (facts.seenListings.has(text)) return;
  facts.seenListings.add(text);
  if (!register(facts, event.signer, event)) return;
  const consent = `${body.agent_id}/${body.payee}`;
  if (body.payee_signature !== undefined && !facts.consents.has(consent)) {
    facts.consents.set(consent, { block: event.block, log: event.log });
  }
  const { capability, payment_mode: mode, issued_at: issuedAt = 0 } = body;
  const at = facts.listings.findIndex(
    (it) => it.agent === event.signer && it.capability === capability && it.mode === mode,
  );
  if (at >= 0 && (facts.listings[at]?.issuedAt ?? 0) > issuedAt) return;
  const listing = {
    agent: event.signer,
    capability,
    mode,
    price: body.price_usdc,
    latency: body.max_latency_ms,
    host: new URL(body.endpoint).host,
    live: !body.retired,
    private: body.private_metrics,
    issuedAt,
  };
  if (at >= 0) facts.listings[at] = listing;
  else facts.listings.push(listing);
  for (const members of fingerprintStars(facts)) {
    facts.groups.push({ signal: "listing_fingerprint", funder: null, members });
  }
}

function readReceipt(facts: Facts, event: RecordEvent): void {
  const body = parseReceipt(event.body);
  if (event.signer !== body.agent_id || body.buyer === body.agent_id || body.payee === body.buyer) return;
  if (body.amount_usdc_atomic === "0" && !/^0x0+$/.test(body.tx_hash)) return;
  const receipt: Receipt = {
    hash: event.hash,
    agent: body.agent_id,
    buyer: body.buyer,
    capability: body.capability,
    hireId: body.hire_id,
    tx: body.tx_hash,
    logIndex: body.log_index ?? null,
    amount: BigInt(body.amount_usdc_atomic),
    payee: body.payee ?? body.agent_id,
    escrowId: body.escrow_id ?? null,
    allPassed: body.verification.all_passed,
    latency: body.latency_ms ?? null,
    buyerSigned: body.buyer_signature !== undefined,
    time: event.time,
    waitsUntil: event.time + facts.params.reconcileSeconds,
    waited: false,
    status: "pending",
    hire: null,
  };
  facts.receipts.push(receipt);
  if (receipt.escrowId !== null) {
    attach(facts, receipt, event);
    return;
  }
  if (receipt.amount < BigInt(facts.params.minHireAtomic)) {
    const given = facts.receipts.some(
      (it) => it.status === "free" && it.agent === receipt.agent && it.buyer === receipt.buyer,
    );
    receipt.status = !receipt.buyerSigned ? "unmatched" : given ? "duplicate" : "free";
    return;
  }
  const payment = facts.transfers.find((it) => pays(facts, it, receipt));
  if (payment !== undefined) countDirect(facts, receipt, payment, event);
  if (receipt.status !== "pending") return;
  const sameWait = facts.receipts.filter(
    (it) =>
      it.waited &&
      it.tx === receipt.tx &&
      it.buyer === receipt.buyer &&
      it.payee === receipt.payee &&
      it.amount === receipt.amount,
  );
  const agreed = receipt.payee === receipt.agent || facts.consents.has(`${receipt.agent}/${receipt.payee}`);
  if (agreed && sameWait.length < 100) receipt.waited = true;
  else receipt.status = "unmatched";
}
