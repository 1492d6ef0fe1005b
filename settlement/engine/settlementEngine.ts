import type { LedgerEntry } from "../../protocol/ledger/entry.ts";
import { recordDigest, recordPayload, type SignedRecord } from "../../protocol/records/record.ts";
import type { DiskLedger, NewEntry } from "../ledger/diskLedger.ts";
import { checkSignature, type IsContractSignature } from "./checkSignature.ts";
import { divergence } from "./divergence.ts";
import type { HeldProposals } from "./heldProposals.ts";
import { type LedgerIndex, recordKey } from "./ledgerIndex.ts";
import { type Proposal, type ShadowProposal, settlementPayload } from "./proposal.ts";
import { checkRecord } from "./recordRules.ts";

/** The institutional rules of settlement (swarm.at §4.3). */
export type SettlementRules = { minConfidence: number; maxDriftAllowed: number };

/** Where an entry stands: its hash, its position from 0 and its time in seconds. */
export type SettledEntry = { hash: string; index: number; timestamp: number };

/** What became of a proposal (swarm.at §5.1). */
export type SettleOutcome =
  | ({ status: "SETTLED" } & SettledEntry)
  | { status: "REJECTED"; reason: string }
  | { status: "ESCROWED"; reason: string; id: string; divergence: number };

/** A settled record. `known` when the ledger had it already: nothing was written then. */
export type SettledRecord = { status: "SETTLED"; known: boolean } & SettledEntry;

/** Most entries that {@link SettlementEngine.status} tells of a task: task ids may repeat without end. */
export const MAX_HISTORY = 100;

/** What is known of a task, newest last. */
export type TaskStatus = {
  settled: SettledEntry[];
  held: { id: string; timestamp: number; divergence: number }[];
};

export type SettlementEngineParameters = {
  ledger: DiskLedger;
  /** Fed with every entry of that ledger. */
  index: LedgerIndex;
  held: HeldProposals;
  rules: SettlementRules;
  /** The time, in seconds since 1970, with fractions. */
  now: () => number;
  /** Lets listings name http and private addresses. */
  devMode?: boolean;
  isContractSignature?: IsContractSignature;
};

/** Turns proposals and signed records into entries of the ledger (swarm.at §5). */
export class SettlementEngine {
  readonly #parameters: SettlementEngineParameters;
  /** Records on their way to disk, so that a second copy waits for the first instead of becoming a second entry. */
  readonly #underWay = new Map<string, Promise<SettledEntry>>();

  constructor(parameters: SettlementEngineParameters) {
    this.#parameters = parameters;
  }

  /**
   * Settles a proposal (swarm.at §5.2), in this order: its parent is the head, its confidence suffices, its shadow does
   * not diverge; then it is hashed and appended. Answers only when what it answers is on disk.
   */
  async settle(proposal: Proposal, shadow?: ShadowProposal): Promise<SettleOutcome> {
    const { ledger, held, rules, now } = this.#parameters;
    if (proposal.parentHash !== ledger.nextParent) {
      return { status: "REJECTED", reason: "State drift detected. Re-base required." };
    }
    if (proposal.confidenceScore < rules.minConfidence) {
      const reason = `Confidence ${proposal.confidenceScore} is below the required ${rules.minConfidence}.`;
      return { status: "REJECTED", reason };
    }
    if (shadow) {
      const drift = divergence(proposal.dataUpdate, shadow.dataUpdate);
      if (drift > rules.maxDriftAllowed) {
        const { id } = await held.hold(proposal, shadow, { divergence: drift, timestamp: now() });
        return { status: "ESCROWED", reason: "High model divergence.", id, divergence: drift };
      }
    }
    return {
      status: "SETTLED",
      ...(await this.#append({
        timestamp: now(),
        taskId: proposal.taskId,
        payload: settlementPayload(proposal),
      })),
    };
  }

  /**
   * Settles a protocol record: schema, signature and rules stand in for the confidence, and the ledger gives the
   * parent. The same record (type, signer, body) again gives the same entry back. Its task id is its digest.
   *
   * @throws InvalidInputError naming the field at fault; nothing is written then
   */
  async settleRecord(record: SignedRecord): Promise<SettledRecord> {
    const { now, devMode = false, index, isContractSignature } = this.#parameters;
    const payload = recordPayload(record);
    const key = recordKey(payload);
    // What is in the ledger passed the rules when it came; only new records are held against today's clock.
    const isNew = !this.#underWay.has(key) && index.indexOfRecord(key) === undefined;
    if (isNew) checkRecord(record, { now: now(), devMode, index });
    await checkSignature(record, isContractSignature);
    // Looked up after the last wait: from here to the append no other copy can come in between.
    const known = this.#find(key);
    if (known) return { status: "SETTLED", known: true, ...(await known) };
    const settled = this.#append({ timestamp: now(), taskId: recordDigest(record.body), payload });
    this.#underWay.set(key, settled);
    try {
      return { status: "SETTLED", known: false, ...(await settled) };
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** What is known of a task: its newest entries and the proposals held for it, each oldest first. */
  async status(taskId: string): Promise<TaskStatus> {
    const { index, held } = this.#parameters;
    const settled = await Promise.all(
      index
        .indexesOfTask(taskId)
        .slice(-MAX_HISTORY)
        .map((at) => this.#entryAt(at)),
    );
    const waiting = held
      .ofTask(taskId)
      .map(({ id, timestamp, divergence }) => ({ id, timestamp, divergence }));
    return { settled, held: waiting };
  }

  /** The entry of a record that is in the ledger or on its way; looks it up at once, the promise is for the reading. */
  #find(key: string): Promise<SettledEntry> | undefined {
    const index = this.#parameters.index.indexOfRecord(key);
    return this.#underWay.get(key) ?? (index === undefined ? undefined : this.#entryAt(index));
  }

  async #entryAt(index: number): Promise<SettledEntry> {
    return settledEntry(await this.#parameters.ledger.entry(index), index);
  }

  async #append(entry: NewEntry): Promise<SettledEntry> {
    const appended = this.#parameters.ledger.append(entry);
    await appended.durable;
    return settledEntry(appended.entry, appended.index);
  }
}

function settledEntry({ currentHash, timestamp }: LedgerEntry, index: number): SettledEntry {
  return { hash: currentHash, index, timestamp: Number(timestamp) };
}
