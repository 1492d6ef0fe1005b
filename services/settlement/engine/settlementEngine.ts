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
import { isOutcomeUnknown, notReleased } from "../ledger/writeErrors.ts";
import type { RejectedWork } from "../outcomes/rejectedWork.ts";
import { complexityOf } from "../outcomes/tally.ts";
import { checkSignature, type IsContractSignature } from "../signatures/checkSignature.ts";
import { outcomeUnknown } from "../standby/storeErrors.ts";
import { compareTexts } from "./compareTexts.ts";
import { divergence } from "./divergence.ts";
import { DriftQueue } from "./driftQueue.ts";
import { type HeldProposals, heldId } from "./heldProposals.ts";
import type { LedgerClock } from "./ledgerClock.ts";
import type { LedgerIndex } from "./ledgerIndex.ts";
import { type Proposal, type ShadowProposal, settlementPayload } from "./proposal.ts";
import { recordKey } from "./recordKey.ts";
import { checkRecord } from "./recordRules.ts";
import { releasedEntry } from "./releasedEntry.ts";
import { type ResolveHost, requirePublicEndpoint } from "./requirePublicEndpoint.ts";
import type { RuleBook } from "./ruleBook.ts";

/** `sandbox` checks everything and writes nothing; `staging` and `production` write. */
export type SettlementMode = "sandbox" | "staging" | "production";

/** An entry's hash, its position from 0 and its time in seconds. */
export type SettledEntry = { hash: string; index: number; timestamp: number };

/** A sandbox's answer instead of SETTLED: all checks passed, but nothing was written. */
export type Validated = { status: "VALIDATED"; mode: "sandbox" };

/** The result of a proposal (swarm.at §5.1). */
export type SettleOutcome =
  | ({ status: "SETTLED" } & SettledEntry)
  | { status: "REJECTED"; reason: string; head?: string }
  | { status: "ESCROWED"; reason: string; id: string; divergence: number }
  | Validated;

/** A settled record. `known`: the ledger had it already, so nothing was written. */
export type SettledRecord = { status: "SETTLED"; known: boolean } & SettledEntry;

/** A review, and the entry of its release. */
export type ReviewedProposal = SettledRecord & { released?: SettledEntry };

export type SettlementEngineParameters = {
  ledger: DiskLedger;
  /** The ledger for which records must be signed. */
  ledgerName: LedgerName;
  /** It must have every entry of this ledger. */
  index: LedgerIndex;
  /** It must have the entries of this ledger that its budgets reach. */
  ruleBook: RuleBook;
  held: HeldProposals;
  /** Counts rejected proposals of agents. Default: nothing does. */
  rejected?: RejectedWork;
  /** Gives entries their time. Refuses while writing is stopped. */
  clock: LedgerClock;
  /** The time, in seconds since 1970, with fractions. */
  now: () => number;
  mode?: SettlementMode;
  /** Allows listings to name http and private addresses. */
  devMode?: boolean;
  /** The chain of the ledger, whose receipts are accepted. Absent: receipts of any chain are. */
  chainId?: number | undefined;
  /** Resolves the names of endpoints. Absent: only the text is checked. */
  resolveHost?: ResolveHost;
  operator?: Address | undefined;
  claimAttestor?: Address | undefined;
  isContractSignature?: IsContractSignature;
  /**
   * How long a caller waits for the shared store, in milliseconds. After that the answer is
   * `outcome_unknown`. Default: without a limit, as for a disk.
   */
  answerWithinMs?: number;
  /** How signatures are read. Default: on this thread, in plain JavaScript. */
  readSignature?: ReadSignature;
};

/** A released proposal that cannot be settled on this machine. */
export type UnfinishedRelease = { id: string; reason: TallystickError };

/** Why one released proposal is left out: its content is not on this disk, or damaged, or fits into no entry. */
const LEFT_OUT: ReadonlySet<string> = new Set(["unknown_held", "held_corrupt", "payload_too_large"]);

/**
 * A record with a valid signature that the rules allow. It is settled, or on its way to disk. The promise is in an
 * object, because a function that returns the promise itself would wait for it.
 */
type Taken = { settling: Promise<SettledRecord | Validated> };

/** A record on its way to disk. */
type UnderWay = { record: SignedRecord; digest: string; settled: Promise<SettledEntry> };

/** Turns proposals and signed records into entries of the ledger (swarm.at §5). */
export class SettlementEngine {
  readonly mode: SettlementMode;
  /** The ledger's name in its records. */
  readonly ledgerName: LedgerName;
  readonly #parameters: SettlementEngineParameters;
  /**
   * Records that are being written, by key. A second copy waits for the first, so it does not become a second
   * entry.
   */
  readonly #underWay = new Map<string, UnderWay>();
  /**
   * Proposals that are being written, by their tasks. A proposal with an unknown outcome stays here, because this
   * process then ends.
   */
  readonly #settling = new Map<string, Promise<unknown>>();
  /**
   * Functions that end the reservations of released proposals in the budgets, by the proposals' ids, until the releases
   * are settled.
   */
  readonly #reserved = new Map<string, () => void>();
  readonly #drift: DriftQueue;
  #finishing: Promise<unknown> = Promise.resolve();

  constructor(parameters: SettlementEngineParameters) {
    this.#parameters = parameters;
    this.mode = parameters.mode ?? "production";
    this.ledgerName = parameters.ledgerName;
    const { ledger } = parameters;
    this.#drift = new DriftQueue(() => ledger.nextParent !== ledger.head);
    ledger.onGrowth(() => this.#drift.moved());
  }

  /**
   * Settles a proposal (swarm.at §5.2). These checks come in this order: its parent is the head, its confidence is
   * high enough, the institutional rules allow it, and its shadow does not diverge. Then it is hashed and appended.
   * Answers only when the result is on disk.
   *
   * @param isPermitted whether the action rules have allowed the action that needs permission
   */
  async settle(
    given: Proposal,
    shadow?: ShadowProposal,
    { isPermitted = false }: { isPermitted?: boolean } = {},
  ): Promise<SettleOutcome> {
    const { ledger, held, ruleBook, now, clock } = this.#parameters;
    const { minConfidence, maxDriftAllowed } = ruleBook.rules;
    let proposal = given;
    if (proposal.parentHash !== ledger.nextParent) return this.#drifted(proposal.taskId);
    if (proposal.confidenceScore < minConfidence) {
      const reason = `Confidence ${proposal.confidenceScore} is below the required ${minConfidence}.`;
      return this.#rejected(proposal, reason);
    }
    const refusal = ruleBook.refusal(proposal.dataUpdate, clock.latest(), isPermitted);
    if (refusal !== undefined) return this.#rejected(proposal, refusal);
    let drift: number | undefined;
    if (shadow) {
      const judged = compareTexts(proposal.dataUpdate, shadow.dataUpdate, ruleBook.rules.comparators);
      const { comparisons } = judged;
      if (comparisons.length > 0) proposal = { ...proposal, comparisons };
      drift = divergence(proposal.dataUpdate, judged.shadow);
      if (drift > maxDriftAllowed) {
        const id = heldId(proposal, shadow);
        // A person may release it later, and then it has to fit into the ledger.
        const { taskId } = proposal;
        ledger.requireFits(releasedEntry({ taskId, divergence: drift }, settlementPayload(proposal)));
        if (this.mode !== "sandbox") {
          clock.requireWrites();
          await this.#inTime(held.hold(proposal, shadow, { divergence: drift, timestamp: now() }));
        }
        return { status: "ESCROWED", reason: "High model divergence.", id, divergence: drift };
      }
    }
    if (this.mode === "sandbox") return { status: "VALIDATED", mode: "sandbox" };
    const payload = settlementPayload(proposal);
    if (proposal.agent !== undefined && drift !== undefined) payload.divergence = drift;
    const endReservation = ruleBook.reserve(proposal.dataUpdate);
    const settling = this.#appendProposal({ taskId: proposal.taskId, payload }).finally(endReservation);
    const settled = await this.#inTime(settling);
    this.#drift.settled(proposal.taskId);
    // Agents that already wait get the new head before this agent gets its answer.
    if (this.#drift.isBusy) await new Promise((resolve) => setImmediate(resolve));
    return { status: "SETTLED", ...settled };
  }

  /**
   * Rejects a proposal for its content. The rejection counts for the agent, if the operator named one with
   * the key.
   */
  async #rejected({ agent, agentMetadata }: Proposal, reason: string): Promise<SettleOutcome> {
    const { rejected, clock } = this.#parameters;
    if (agent !== undefined && this.mode !== "sandbox")
      await rejected?.add({ agent, complexity: complexityOf(agentMetadata, false), time: clock.latest() });
    return { status: "REJECTED", reason };
  }

  /** Reports a drift, with the head to build on. Agents get this answer one after the other. */
  async #drifted(taskId: string): Promise<SettleOutcome> {
    const { ledger } = this.#parameters;
    const isMoving = ledger.nextParent !== ledger.head;
    // If an entry on this head is already being written, naming this head would only cause the next
    // rejection.
    if (isMoving || this.#drift.isBusy) await this.#drift.wait(taskId);
    return { status: "REJECTED", reason: "State drift detected. Re-base required.", head: ledger.head };
  }

  /**
   * Settles a protocol record. Schema, signature and rules replace the confidence, and the ledger gives the parent. The
   * same record (type, signer, body) again gets the same entry. Its task id is its digest.
   *
   * @throws InvalidInputError naming the field at fault (`unbound`, `other_type`, `other_ledger`: it is signed as something
   * else, or for another ledger); TallystickError `conflicting_record` (409) with the entry when the ledger has another
   * record under its key. Nothing is written then.
   */
  async settleRecord(record: SignedRecord): Promise<SettledRecord | Validated> {
    const { settling } = await this.#take(record);
    return this.#inTime(settling);
  }

  /**
   * Checks a record and appends it, unless the ledger has it.
   *
   * @param allow called just before a new record is appended, and never for a record with a false signature. It may
   * throw. It returns a function that undoes its work if the record cannot be written
   */
  async #take(record: SignedRecord, allow?: () => () => void): Promise<Taken> {
    const { now, devMode = false, chainId, index, operator, claimAttestor } = this.#parameters;
    checkBinding(record, this.ledgerName);
    const key = recordKey(record, () => recordDigest(record.body));
    // A record that is in the ledger passed the rules when it came. So only new records are checked against
    // the present time.
    const isNew = !this.#underWay.has(key) && index.indexOfRecord(key) === undefined;
    if (isNew) {
      const receiptOf = (hash: string) => this.#receiptOf(hash);
      await checkRecord(record, { now: now(), devMode, chainId, index, operator, claimAttestor, receiptOf });
    }
    const { isContractSignature, readSignature, resolveHost } = this.#parameters;
    const digest = await checkSignature(record, isContractSignature, readSignature);
    // Name servers are asked only for records with a valid signature.
    if (resolveHost && !devMode) await requirePublicEndpoint(record, resolveHost);
    // This look-up comes after the last wait, so no other copy can be added between here and the append.
    const underWay = this.#underWay.get(key);
    const known = index.indexOfRecord(key);
    if (underWay) {
      const { record: before, digest: digestBefore, settled } = underWay;
      return { settling: settled.then((entry) => this.#again(record, digest, before, digestBefore, entry)) };
    }
    if (known !== undefined) {
      const entry = await this.#parameters.ledger.entry(known);
      const before = recordFromPayload(entry.payload);
      const again = this.#again(record, digest, before, entry.taskId, settledEntry(entry, known));
      return { settling: Promise.resolve(again) };
    }
    // The other record with this key could not be written, and the rules did not check this one yet.
    if (!isNew) return this.#take(record, allow);
    const undo = allow?.();
    if (this.mode === "sandbox")
      return { settling: Promise.resolve({ status: "VALIDATED", mode: "sandbox" }) };
    // The record stays in this map until its outcome is known, even if nobody waits for it, because a second
    // copy must wait for it.
    const settled = this.#append({ taskId: digest, payload: recordPayload(record) })
      .catch((error) => {
        undo?.();
        throw error;
      })
      .finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, { record, digest, settled });
    return { settling: settled.then((entry) => ({ status: "SETTLED", known: false, ...entry })) };
  }

  /** @throws TallystickError `outcome_unknown` (503) when it takes too long */
  async #inTime<T>(settling: Promise<T>): Promise<T> {
    const { answerWithinMs } = this.#parameters;
    if (answerWithinMs === undefined) return settling;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(outcomeUnknown()), answerWithinMs);
    });
    // If it fails after the caller stopped waiting, nobody handles the error. It must not end the process.
    settling.catch(() => {});
    return Promise.race([settling, late]).finally(() => clearTimeout(timer));
  }

  /**
   * Settles the operator's review of a held proposal (swarm.at §5.1). A released proposal is settled after
   * the review, on the present head, because the head that the proposal names is old.
   *
   * @throws as {@link settleRecord}; TallystickError `unknown_held` (404) when nothing is held under its id,
   * `rules_refuse` (409) when the rules do not allow what it would release
   */
  async settleReview(record: SignedRecord): Promise<ReviewedProposal | Validated> {
    const { held, ledger } = this.#parameters;
    const id = String(record.body.proposal);
    // These checks come first, because a review whose proposal cannot be settled would stay in the ledger forever.
    const { payload } = await held.content(id);
    const isRelease = record.body.decision === "release";
    if (isRelease) ledger.requireFits(releasedEntry(held.get(id) ?? { taskId: id }, payload));
    // The rules come last. Before the signature is checked, the review may be a stranger's. It must not take a part of
    // a budget, and its answer must not say how much is left.
    const allowRelease = (): (() => void) => {
      this.#requireAllowed(payload.data_update as Proposal["dataUpdate"]);
      if (this.mode !== "sandbox") this.#reserve(id, payload);
      return () => this.#endReservation(id);
    };
    const { settling } = await this.#take(record, isRelease ? allowRelease : undefined);
    return this.#inTime(settling.then((review) => this.#reviewed(id, review, isRelease)));
  }

  /** Reserves what a released proposal spends, until its release is settled, or cannot be settled here. */
  #reserve(id: string, { data_update }: LedgerEntry["payload"]): void {
    if (this.#reserved.has(id)) return;
    this.#reserved.set(id, this.#parameters.ruleBook.reserve(data_update as Proposal["dataUpdate"]));
  }

  #endReservation(id: string): void {
    this.#reserved.get(id)?.();
    this.#reserved.delete(id);
  }

  async #reviewed(
    id: string,
    review: SettledRecord | Validated,
    isRelease: boolean,
  ): Promise<ReviewedProposal | Validated> {
    if (review.status === "VALIDATED") return review;
    this.#parameters.held.reviewed(id, review);
    if (!isRelease) return review;
    return this.#release(review).catch((cause) => {
      // This error says that nothing was written, but the review is in the ledger, and the release will follow it.
      throw cause instanceof TallystickError && cause.code === "ledger_unavailable"
        ? notReleased(cause)
        : cause;
    });
  }

  /**
   * Checks the rules again, because the rules and the budgets may have changed while the proposal was held.
   *
   * @throws TallystickError `rules_refuse` (409); nothing is settled then
   */
  #requireAllowed(dataUpdate: Proposal["dataUpdate"]): void {
    const { ruleBook, clock } = this.#parameters;
    const refusal = ruleBook.refusal(dataUpdate, clock.latest());
    if (refusal === undefined) return;
    throw new TallystickError({
      code: "rules_refuse",
      message: `The rules do not allow it now: ${refusal}`,
      hint: "Review it again when the rules allow it, or reject it. Nothing was written.",
    });
  }

  async #release(review: SettledRecord): Promise<ReviewedProposal> {
    const { index } = this.#parameters;
    await this.finishReleases();
    const at = index.releaseOf(review.hash);
    if (at === undefined) return review;
    return { ...review, released: settledEntry(await this.#parameters.ledger.entry(at), at) };
  }

  /**
   * Settles released proposals that were not settled yet, for example after a crash between the two steps.
   * Call this at every start.
   *
   * @returns those that cannot be settled here, with the reason. They do not keep the others waiting
   */
  async finishReleases(): Promise<UnfinishedRelease[]> {
    if (this.mode === "sandbox") return [];
    // One after the other, because two at the same time would settle the same proposal twice.
    return this.#afterReleases(() => this.#finishReleases());
  }

  async #afterReleases<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#finishing.catch(() => {}).then(work);
    this.#finishing = done;
    return done;
  }

  async #finishReleases(): Promise<UnfinishedRelease[]> {
    const left: UnfinishedRelease[] = [];
    for (const [review, id] of [...this.#parameters.index.unfinishedReleases]) {
      const entry = await this.#releaseOf(review, id);
      if (entry instanceof TallystickError) {
        left.push({ id, reason: entry });
        continue;
      }
      await this.#appendProposal(entry);
      this.#endReservation(id);
    }
    return left;
  }

  /**
   * Reserves what the released proposals spend, if they are not settled yet. Call this at every start, because the
   * ledger may refuse writes then. Without it, others could spend the same budget before {@link finishReleases}.
   */
  async reserveReleases(): Promise<void> {
    if (this.mode === "sandbox") return;
    // This waits for running releases. A proposal that is settled by then must not be reserved again, because nothing
    // would end its reservation.
    await this.#afterReleases(async () => {
      for (const [review, id] of [...this.#parameters.index.unfinishedReleases])
        await this.#releaseOf(review, id);
    });
  }

  /** The entry of a release that is not settled yet, with its part of the budgets reserved; or why it is left out. */
  async #releaseOf(review: string, id: string): Promise<NewEntry | TallystickError> {
    const { held, ledger } = this.#parameters;
    try {
      const { payload } = await held.content(id);
      const entry = releasedEntry(held.get(id) ?? { taskId: id }, payload, review);
      ledger.requireFits(entry);
      this.#reserve(id, payload);
      return entry;
    } catch (error) {
      if (!(error instanceof TallystickError) || !LEFT_OUT.has(error.code)) throw error;
      this.#endReservation(id);
      return error;
    }
  }

  /**
   * Answers a record with a key that is taken. If it is the same record, the answer is its entry. If it is
   * another one, it is refused.
   */
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
      hint: "A settled record never changes. Read it at GET /v1/ledger/entries?from=index&to=index+1.",
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

  /**
   * Waits for the proposals of a task that are being written, until it is certain whether they are settled. Call it
   * before you tell a client what the ledger has of a task. If the client hears that the ledger has nothing, the client
   * proposes the task again.
   *
   * @throws TallystickError `outcome_unknown` (503) when it takes too long, or when this process cannot find out
   */
  async certainOf(taskId: string): Promise<void> {
    const settling = this.#settling.get(taskId);
    if (settling) await this.#inTime(settling);
  }

  #appendProposal(entry: Omit<NewEntry, "timestamp">): Promise<SettledEntry> {
    const { taskId } = entry;
    const settled = this.#append(entry);
    const before = this.#settling.get(taskId);
    // An entry that was not written needs no waiting.
    const known = settled.then(
      () => before,
      (error) => {
        if (isOutcomeUnknown(error)) throw error;
        return before;
      },
    );
    this.#settling.set(taskId, known);
    const forget = (): void => {
      if (this.#settling.get(taskId) === known) this.#settling.delete(taskId);
    };
    known.then(forget, () => {});
    return settled;
  }

  async #append(entry: Omit<NewEntry, "timestamp">): Promise<SettledEntry> {
    const { ledger, clock } = this.#parameters;
    const appended = ledger.append({ ...entry, timestamp: clock.next() });
    await appended.durable;
    return settledEntry(appended.entry, appended.index);
  }
}

/** The hash, position and time of an entry. */
export function settledEntry({ currentHash, timestamp }: LedgerEntry, index: number): SettledEntry {
  return { hash: currentHash, index, timestamp: Number(timestamp) };
}
