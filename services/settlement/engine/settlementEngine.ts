import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { checkBinding } from "tallystick-protocol/records/binding";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import {
  recordDigest,
  recordFromPayload,
  recordPayload,
  type SignedRecord,
} from "tallystick-protocol/records/record";
import type { ReadSignature } from "tallystick-runtime/signatures/readSignature";
import type { DiskLedger, NewEntry } from "../ledger/diskLedger.ts";
import type { RejectedWork } from "../outcomes/rejectedWork.ts";
import { complexityOf } from "../outcomes/tally.ts";
import { checkSignature, type IsContractSignature } from "../signatures/checkSignature.ts";
import { compareTexts } from "./compareTexts.ts";
import { divergence } from "./divergence.ts";
import { DriftQueue } from "./driftQueue.ts";
import { type HeldProposals, heldId } from "./heldProposals.ts";
import type { LedgerClock } from "./ledgerClock.ts";
import type { LedgerIndex } from "./ledgerIndex.ts";
import { type Proposal, type ShadowProposal, settlementPayload } from "./proposal.ts";
import { recordKey } from "./recordKey.ts";
import { checkRecord } from "./recordRules.ts";
import { type ResolveHost, requirePublicEndpoint } from "./requirePublicEndpoint.ts";
import type { RuleBook } from "./ruleBook.ts";

/** `sandbox` checks everything and writes nothing; `staging` and `production` write. */
export type SettlementMode = "sandbox" | "staging" | "production";

/** Where an entry stands: its hash, its position from 0 and its time in seconds. */
export type SettledEntry = { hash: string; index: number; timestamp: number };

/** What a sandbox answers in place of SETTLED: all checks passed, nothing was written. */
export type Validated = { status: "VALIDATED"; mode: "sandbox" };

/** What became of a proposal (swarm.at §5.1). */
export type SettleOutcome =
  | ({ status: "SETTLED" } & SettledEntry)
  | { status: "REJECTED"; reason: string; head?: string }
  | { status: "ESCROWED"; reason: string; id: string; divergence: number }
  | Validated;

/** A settled record. `known` when the ledger had it already: nothing was written then. */
export type SettledRecord = { status: "SETTLED"; known: boolean } & SettledEntry;

/** A review, and the entry its release became. */
export type ReviewedProposal = SettledRecord & { released?: SettledEntry };

export type SettlementEngineParameters = {
  ledger: DiskLedger;
  /** What records have to be signed for. */
  ledgerName: LedgerName;
  /** Fed with every entry of that ledger. */
  index: LedgerIndex;
  /** Fed with the entries of that ledger. */
  ruleBook: RuleBook;
  held: HeldProposals;
  /** Where rejected proposals of agents are counted; nowhere unless given. */
  rejected?: RejectedWork;
  /** Gives entries their time, and refuses while nothing may be written. */
  clock: LedgerClock;
  /** The time, in seconds since 1970, with fractions. */
  now: () => number;
  mode?: SettlementMode;
  /** Lets listings name http and private addresses. */
  devMode?: boolean;
  /** Looks names of endpoints up. Absent: only what is written is judged. */
  resolveHost?: ResolveHost;
  operator?: Address | undefined;
  claimAttestor?: Address | undefined;
  isContractSignature?: IsContractSignature;
  /** How signatures are read; here and in plain JavaScript unless given. */
  readSignature?: ReadSignature;
};

/** A record on its way to disk. */
type UnderWay = { record: SignedRecord; digest: string; settled: Promise<SettledEntry> };

/** Turns proposals and signed records into entries of the ledger (swarm.at §5). */
export class SettlementEngine {
  readonly mode: SettlementMode;
  /** What the ledger is called in the records that stand in it. */
  readonly ledgerName: LedgerName;
  readonly #parameters: SettlementEngineParameters;
  /** Records on their way to disk by key, so that a second copy waits for the first instead of becoming a second entry. */
  readonly #underWay = new Map<string, UnderWay>();
  readonly #drift: DriftQueue;
  #finishing: Promise<void> = Promise.resolve();

  constructor(parameters: SettlementEngineParameters) {
    this.#parameters = parameters;
    this.mode = parameters.mode ?? "production";
    this.ledgerName = parameters.ledgerName;
    const { ledger } = parameters;
    this.#drift = new DriftQueue(() => ledger.nextParent !== ledger.head);
    ledger.onGrowth(() => this.#drift.moved());
  }

  /**
   * Settles a proposal (swarm.at §5.2), in this order: its parent is the head, its confidence suffices and the
   * institutional rules allow it, its shadow does not diverge; then it is hashed and appended. Answers only when what it
   * answers is on disk.
   *
   * @param isLeave whether the action rules have allowed the action that it is leave for
   */
  async settle(
    given: Proposal,
    shadow?: ShadowProposal,
    { isLeave = false }: { isLeave?: boolean } = {},
  ): Promise<SettleOutcome> {
    const { ledger, held, ruleBook, now, clock } = this.#parameters;
    const { minConfidence, maxDriftAllowed } = ruleBook.rules;
    let proposal = given;
    if (proposal.parentHash !== ledger.nextParent) return this.#drifted(proposal.taskId);
    if (proposal.confidenceScore < minConfidence) {
      const reason = `Confidence ${proposal.confidenceScore} is below the required ${minConfidence}.`;
      return this.#rejected(proposal, reason);
    }
    const refusal = ruleBook.refusal(proposal.dataUpdate, clock.latest(), isLeave);
    if (refusal !== undefined) return this.#rejected(proposal, refusal);
    let drift: number | undefined;
    if (shadow) {
      const judged = compareTexts(proposal.dataUpdate, shadow.dataUpdate, ruleBook.rules.comparators);
      const { comparisons } = judged;
      if (comparisons.length > 0) proposal = { ...proposal, comparisons };
      drift = divergence(proposal.dataUpdate, judged.shadow);
      if (drift > maxDriftAllowed) {
        const id = heldId(proposal, shadow);
        if (this.mode !== "sandbox") {
          clock.requireWrites();
          await held.hold(proposal, shadow, { divergence: drift, timestamp: now() });
        }
        return { status: "ESCROWED", reason: "High model divergence.", id, divergence: drift };
      }
    }
    if (this.mode === "sandbox") return { status: "VALIDATED", mode: "sandbox" };
    const payload = settlementPayload(proposal);
    if (proposal.agent !== undefined && drift !== undefined) payload.divergence = drift;
    const endReservation = ruleBook.reserve(proposal.dataUpdate);
    const settled = await this.#append({ taskId: proposal.taskId, payload }).finally(endReservation);
    this.#drift.settled(proposal.taskId);
    // Whoever has been waiting for this head is told of it first.
    if (this.#drift.isBusy) await new Promise((resolve) => setImmediate(resolve));
    return { status: "SETTLED", ...settled };
  }

  /** Rejects a proposal for what it is; that counts for the agent it came from, when the operator named one with its key. */
  async #rejected({ agent, agentMetadata }: Proposal, reason: string): Promise<SettleOutcome> {
    const { rejected, clock } = this.#parameters;
    if (agent !== undefined && this.mode !== "sandbox")
      await rejected?.add({ agent, complexity: complexityOf(agentMetadata, false), time: clock.latest() });
    return { status: "REJECTED", reason };
  }

  /** Tells of a drift, with the head to re-base on; while others are told so too, one after the other. */
  async #drifted(taskId: string): Promise<SettleOutcome> {
    const { ledger } = this.#parameters;
    const isMoving = ledger.nextParent !== ledger.head;
    // A head that is about to be built upon would only lead to the next rejection.
    if (isMoving || this.#drift.isBusy) await this.#drift.wait(taskId);
    return { status: "REJECTED", reason: "State drift detected. Re-base required.", head: ledger.head };
  }

  /**
   * Settles a protocol record: schema, signature and rules stand in for the confidence, and the ledger gives the
   * parent. The same record (type, signer, body) again gives the same entry back. Its task id is its digest.
   *
   * @throws InvalidInputError naming the field at fault (`unbound`, `other_type`, `other_ledger`: it is not signed as
   * what it is sent as, or for another ledger); TallystickError `conflicting_record` (409) with the entry when
   * the ledger has another record under its key. Nothing is written then.
   */
  async settleRecord(record: SignedRecord): Promise<SettledRecord | Validated> {
    const { now, devMode = false, index, operator, claimAttestor } = this.#parameters;
    checkBinding(record, this.ledgerName);
    const key = recordKey(record, () => recordDigest(record.body));
    // What is in the ledger passed the rules when it came; only new records are held against today's clock.
    if (!this.#underWay.has(key) && index.indexOfRecord(key) === undefined) {
      const receiptOf = (hash: string) => this.#receiptOf(hash);
      await checkRecord(record, { now: now(), devMode, index, operator, claimAttestor, receiptOf });
    }
    const { isContractSignature, readSignature, resolveHost } = this.#parameters;
    const digest = await checkSignature(record, isContractSignature, readSignature);
    // Only who has signed makes this service ask name servers.
    if (resolveHost && !devMode) await requirePublicEndpoint(record, resolveHost);
    // Looked up after the last wait: from here to the append no other copy can come in between.
    const underWay = this.#underWay.get(key);
    const known = index.indexOfRecord(key);
    if (underWay)
      return this.#again(record, digest, underWay.record, underWay.digest, await underWay.settled);
    if (known !== undefined) {
      const entry = await this.#parameters.ledger.entry(known);
      const before = recordFromPayload(entry.payload);
      return this.#again(record, digest, before, entry.taskId, settledEntry(entry, known));
    }
    if (this.mode === "sandbox") return { status: "VALIDATED", mode: "sandbox" };
    const settled = this.#append({ taskId: digest, payload: recordPayload(record) });
    this.#underWay.set(key, { record, digest, settled });
    try {
      return { status: "SETTLED", known: false, ...(await settled) };
    } finally {
      this.#underWay.delete(key);
    }
  }

  /**
   * Settles the operator's review of a held proposal (swarm.at §5.1), and behind it what it releases, on the head of
   * the moment: what the proposal was made on has long been built upon.
   *
   * @throws as {@link settleRecord}; TallystickError `unknown_held` (404) when nothing is held under its id,
   * `rules_refuse` (409) when the rules do not allow what it would release
   */
  async settleReview(record: SignedRecord): Promise<ReviewedProposal | Validated> {
    const { held, index } = this.#parameters;
    const id = String(record.body.proposal);
    // Asked first: a review of nothing would stand in the ledger for good.
    const { payload } = await held.content(id);
    const isRelease = record.body.decision === "release";
    const endReservation =
      isRelease && index.reviewOf(id) === undefined ? this.#allowRelease(payload) : () => {};
    try {
      const review = await this.settleRecord(record);
      if (review.status === "VALIDATED") return review;
      held.reviewed(id);
      return isRelease ? await this.#release(review) : review;
    } finally {
      endReservation();
    }
  }

  /**
   * The rules once more, since they and what is left of budgets may have changed while it was held.
   *
   * @returns how to end what it counts as spent until it is settled
   * @throws TallystickError `rules_refuse` (409); nothing is settled then
   */
  #allowRelease(payload: LedgerEntry["payload"]): () => void {
    const { ruleBook, clock } = this.#parameters;
    const dataUpdate = payload.data_update as Proposal["dataUpdate"];
    const refusal = ruleBook.refusal(dataUpdate, clock.latest());
    if (refusal === undefined) return ruleBook.reserve(dataUpdate);
    throw new TallystickError({
      code: "rules_refuse",
      message: `The rules do not allow it now: ${refusal}`,
      hint: "Review it again when they do, or reject it. Nothing was written.",
    });
  }

  async #release(review: SettledRecord): Promise<ReviewedProposal> {
    const { index } = this.#parameters;
    await this.finishReleases();
    const at = index.releaseOf(review.hash);
    if (at === undefined) return review;
    return { ...review, released: settledEntry(await this.#parameters.ledger.entry(at), at) };
  }

  /** Settles what was released but not yet settled, as a crash between the two can leave it. Call it at every start. */
  async finishReleases(): Promise<void> {
    if (this.mode === "sandbox") return;
    // One after the other: two at once would both settle what neither has settled yet.
    const before = this.#finishing;
    this.#finishing = before.catch(() => {}).then(() => this.#finishReleases());
    return this.#finishing;
  }

  async #finishReleases(): Promise<void> {
    const { held, index } = this.#parameters;
    for (const [review, id] of [...index.unfinishedReleases]) {
      const { payload } = await held.content(id);
      const { taskId = id, divergence } = held.get(id) ?? {};
      await this.#append({
        taskId,
        payload: {
          ...payload,
          ...(payload.agent !== undefined && divergence !== undefined && { divergence }),
          review,
        },
      });
    }
  }

  /** Answers a record whose key is taken: the entry when it is the same record, a refusal when it is another one. */
  #again(
    record: SignedRecord,
    digest: string,
    before: SignedRecord,
    digestBefore: string,
    entry: SettledEntry,
  ): SettledRecord {
    const isSame = digest === digestBefore && record.type === before.type && record.signer === before.signer;
    if (isSame) return { status: "SETTLED", known: true, ...entry };
    throw new TallystickError({
      code: "conflicting_record",
      message: `The ledger has another ${before.type} for the same thing.`,
      hint: "What is settled stays as it is. Read it at GET /v1/ledger/entries?from=index&to=index+1.",
      details: { existing: entry },
    });
  }

  async #receiptOf(hash: string): Promise<RecordBody | undefined> {
    const { index, ledger } = this.#parameters;
    const at = index.indexOfHash(hash);
    if (at === undefined) return undefined;
    const { currentHash, payload } = await ledger.entry(at);
    return currentHash === hash && payload.type === "receipt" ? recordFromPayload(payload).body : undefined;
  }

  async #append(entry: Omit<NewEntry, "timestamp">): Promise<SettledEntry> {
    const { ledger, clock } = this.#parameters;
    const appended = ledger.append({ ...entry, timestamp: clock.next() });
    await appended.durable;
    return settledEntry(appended.entry, appended.index);
  }
}

/** Where an entry stands, from the entry. */
export function settledEntry({ currentHash, timestamp }: LedgerEntry, index: number): SettledEntry {
  return { hash: currentHash, index, timestamp: Number(timestamp) };
}
