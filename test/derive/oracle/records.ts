import type { RecordEvent } from "tallystick-derive/events";
import { InvalidInputError } from "tallystick-protocol/errors";
import { parseClaim } from "tallystick-protocol/records/claim";
import { parseListing } from "tallystick-protocol/records/listing";
import { type Params, parseParams } from "tallystick-protocol/records/params";
import { parseRating } from "tallystick-protocol/records/rating";
import { parseReceipt } from "tallystick-protocol/records/receipt";
import { parseTelemetry } from "tallystick-protocol/records/telemetry";
import { register } from "./agents.ts";
import { readCanary } from "./auditCanaries.ts";
import { noteListing } from "./auditEligible.ts";
import { readMode } from "./auditModes.ts";
import { readActuation, readAuditor, readHistory, readJudge, readVerdict } from "./auditRecords.ts";
import { dropTrips } from "./clusters.ts";
import type { Facts, Receipt } from "./facts.ts";
import { noteAlike, tokensOf } from "./fingerprints.ts";
import { sharedSize } from "./groups.ts";
import { attach, countDirect, latencyOf } from "./hires.ts";
import { agreesTo, pays } from "./transfers.ts";

/** Reads a record. A record whose body a schema refuses has no effect. */
export function readRecord(facts: Facts, event: RecordEvent): void {
  if (!isMeant(facts, event)) return;
  try {
    readMeant(facts, event);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
  }
}

/** Whether a record was signed for this type and this ledger. The older form counts as such while the ledger is not bound. */
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
      facts.telemetry.set(receipt.hash, { latency, allPassed, time: event.time });
      if (receipt.hire === null) return;
      const paid = receipt.hire.escrow?.depositedTime ?? receipt.hire.time;
      receipt.hire.latency = latencyOf(facts, receipt, paid) ?? receipt.hire.latency;
      const isOpen = receipt.hire.escrow === null && !receipt.hire.isRolledBack;
      if (isOpen && !receipt.buyerSigned && allPassed !== null) {
        receipt.hire.outcome = allPassed ? "success" : "failure";
      }
      return;
    }
    case "claim": {
      const { agent_id, state, x_handle } = parseClaim(event.body);
      const said = JSON.stringify([event.signer, Object.entries(event.body).sort()]);
      if (!facts.params.claimAttestors.includes(event.signer) || facts.seenClaims.has(said)) return;
      facts.seenClaims.add(said);
      facts.claims.set(agent_id, state);
      if (state === "unclaimed") facts.handles.delete(agent_id);
      else facts.handles.set(agent_id, x_handle.toLowerCase());
      return;
    }
    case "auditor":
      readAuditor(facts, event);
      return;
    case "audit_actuation":
      readActuation(facts, event);
      return;
    case "audit_verdict":
      readVerdict(facts, event);
      return;
    case "audit_judge":
      readJudge(facts, event);
      return;
    case "audit_mode":
      readMode(facts, event);
      return;
    case "audit_history":
      readHistory(facts, event);
      return;
    case "audit_canary":
      readCanary(facts, event);
  }
}

/** All hubs: the published hubs, and the pools that pay auditors. */
export function hubsOf({ hubs, audit }: Params): Set<string> {
  return new Set([...hubs, ...Object.values(audit.operators).map((it) => it.pool)]);
}

function readParams(facts: Facts, event: RecordEvent): void {
  const params = parseParams(event.body);
  if (event.signer !== facts.params.operator || params.version <= facts.params.version) return;
  const old = facts.params;
  facts.params = params;
  const isWider =
    params.clusterOthers < old.clusterOthers ||
    params.fundingSpanSeconds > old.fundingSpanSeconds ||
    params.deployBatchBlocks > old.deployBatchBlocks;
  if (isWider) facts.widened.push({ time: event.time, block: event.block });
  const hubs = hubsOf(params);
  for (const hub of facts.hubs) if (!hubs.has(hub)) facts.hubsOnce.add(hub);
  dropTrips(facts, (it) => it !== null && !facts.hubs.has(it) && hubs.has(it));
  facts.hubs = hubs;
  for (const hire of facts.hires)
    if (hire.leavesWindow > facts.asOf && sharedSize(facts, hire.buyer, hire.seller) === 1) hire.size = 1;
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
    version: body.verification_version ?? "v0",
    issuedAt,
  };
  noteListing(facts, event, { capability, mode, audit: body.audit, retired: body.retired });
  const before = tokensOf(facts, event.signer);
  if (at >= 0) facts.listings[at] = listing;
  else facts.listings.push(listing);
  const after = tokensOf(facts, event.signer);
  if (before.size !== after.size || [...before].some((it) => !after.has(it))) noteAlike(facts, event.signer);
}

function readReceipt(facts: Facts, event: RecordEvent): void {
  const body = parseReceipt(event.body);
  if (event.signer !== body.agent_id || body.buyer === body.agent_id || body.payee === body.buyer) return;
  if (facts.networks.length > 0 && !facts.networks.includes(body.network)) return;
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
    hashes: [body.params_hash ?? null, body.result_hash ?? null],
    wasSeen: false,
    isHeld:
      Object.keys(facts.params.audit.operators).length > 0 &&
      facts.audits.consents.some((it) => it.agent === body.agent_id) &&
      body.params_hash !== undefined &&
      body.result_hash !== undefined,
    time: event.time,
    waitsUntil: event.time + facts.params.reconcileSeconds,
    waited: false,
    status: "pending",
    hire: null,
  };
  facts.receipts.push(receipt);
  if (receipt.escrowId !== null) {
    attach(facts, receipt, event);
    if (facts.escrows.has(receipt.escrowId)) return;
    const before = facts.receipts.filter(
      (it) =>
        it.waited &&
        it.escrowId === receipt.escrowId &&
        it.agent === receipt.agent &&
        it.buyer === receipt.buyer,
    );
    receipt.waited = before.length < 100;
    if (!receipt.waited) receipt.status = "unmatched";
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
      it.escrowId === null &&
      it.tx === receipt.tx &&
      it.buyer === receipt.buyer &&
      it.payee === receipt.payee &&
      it.amount === receipt.amount,
  );
  // A payment that the receipt waits for comes after all that was read, also after the rest of this anchor.
  const later = { block: event.block + 1, log: 0 };
  const agreed = receipt.payee === receipt.agent || agreesTo(facts, receipt, later);
  if (agreed && sameWait.length < 100) receipt.waited = true;
  else receipt.status = "unmatched";
}
