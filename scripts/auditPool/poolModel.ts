import { drawnPlaces } from "tallystick-derive/audits/drawnPlaces";
import type { Auditor, Chance, Market, PoolAudit } from "./market.ts";

/** The most places of the roster that are tried at a tick. The derivation has the same limit. */
const MAX_PROBES = 64;

/**
 * A model of the audit rules for one seller, without ledger and chain: draws, assignments, rounds and ends.
 * It follows `packages/derive/audits/` for hires that disclose their data, with auditors that may all judge.
 * A test compares the two.
 */
export class PoolModel {
  /** The number of hires so far. */
  hires = 0;
  readonly #market: Market;
  readonly #chance: Chance;
  readonly #onEnd: (audit: PoolAudit) => void;
  readonly #roster: Auditor[];
  /** Auditors that left the roster because they did not answer. They join it again before the next tick. */
  readonly #removed: Auditor[] = [];
  readonly #silent: number[];
  /** For each pair of auditor and buyer, when the auditor was last asked about a hire of the buyer. */
  readonly #pairs: Float64Array;
  readonly #open = new Set<PoolAudit>();
  /** How often an auditor left the roster and joined it again. */
  returned = 0;
  #tick = 0;
  #rechecks: PoolAudit[] = [];
  #waiting: PoolAudit[] = [];
  readonly #due: { audit: PoolAudit; round: number; attempt: number; time: number }[] = [];

  constructor(market: Market, chance: Chance, onEnd: (audit: PoolAudit) => void) {
    this.#market = market;
    this.#chance = chance;
    this.#onEnd = onEnd;
    this.#roster = Array.from({ length: market.auditors }, (_, id) => ({
      id,
      isColluder: id < market.colluders,
    }));
    this.#silent = this.#roster.map(() => 0);
    this.#pairs = new Float64Array(market.auditors * market.buyers).fill(Number.NEGATIVE_INFINITY);
  }

  /** The audits that were drawn and have not ended. */
  get open(): readonly PoolAudit[] {
    return [...this.#open];
  }

  /** Simulates the hires of one tick, and then the tick itself. */
  advance(): void {
    this.hires += this.#market.hiresPerTick;
    this.#tick++;
    if (this.#removed.length > 0) this.#roster.push(...this.#removed.splice(0).sort((a, b) => a.id - b.id));
    this.#endTimes();
    this.#drawRechecks();
    this.#drawHires();
    this.#hear(this.#assign());
  }

  get #now(): number {
    return this.#tick * this.#market.tickSeconds;
  }

  #endTimes(): void {
    for (let first = this.#due[0]; first !== undefined && first.time <= this.#now; first = this.#due[0]) {
      this.#due.shift();
      const { audit, round, attempt } = first;
      if (audit.status === "assigned" && audit.round === round && audit.attempt === attempt)
        this.#nextAttempt(audit);
    }
  }

  #drawRechecks(): void {
    if (this.#rechecks.length === 0) return;
    const passed = this.#rechecks;
    this.#rechecks = [];
    const number = this.#chance.draw("recheck", this.#tick);
    const drawn = new Set(drawnPlaces(passed.length, this.#market.rules.recheckPpm, BigInt(number)));
    for (const [n, audit] of passed.entries()) {
      if (drawn.has(n)) this.#await(audit, audit.round + 1);
      else this.#end(audit, "passed");
    }
  }

  #drawHires(): void {
    const { hiresPerTick: count, rules } = this.#market;
    const number = this.#chance.draw("sample", this.#tick);
    // Most ticks draw nothing, and this shortcut makes them cheap.
    if (count * rules.ratePpm + number < 1_000_000) return;
    for (const place of drawnPlaces(count, rules.ratePpm, BigInt(number))) {
      const hire = this.hires - count + place;
      const isGarbage = this.#chance.isGarbage(hire);
      const audit: PoolAudit = { hire, isGarbage, status: "assigning", round: 0, attempt: 0, asked: [] };
      this.#open.add(audit);
      this.#await(audit, 1);
    }
  }

  /** @returns the auditors that were asked at this tick, in order */
  #assign(): PoolAudit[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    const asked: PoolAudit[] = [];
    for (const audit of waiting) {
      const auditor = this.#pick(audit);
      if (auditor === undefined) {
        this.#waiting.push(audit);
        continue;
      }
      this.#endAttempt(audit);
      audit.attempt++;
      audit.status = "assigned";
      const { hire, round, attempt, isGarbage } = audit;
      const word = this.#chance.word(auditor, isGarbage, { tick: this.#tick, hire, round, attempt });
      audit.asked.push({ auditor, round, word });
      this.#pairs[this.#pairOf(auditor, hire)] = this.#now;
      this.#due.push({ audit, round, attempt, time: this.#now + this.#market.rules.verdictSeconds });
      asked.push(audit);
    }
    return asked;
  }

  #pick({ hire, round, attempt, asked }: PoolAudit): Auditor | undefined {
    const size = this.#roster.length;
    if (size === 0) return undefined;
    const tried = new Set<number>();
    for (let k = 0; k < MAX_PROBES && tried.size < size; k++) {
      const probe = { tick: this.#tick, hire, round, attempt: attempt + 1, k };
      const auditor = this.#roster[this.#chance.place(probe, size)] as Auditor;
      if (tried.has(auditor.id)) continue;
      tried.add(auditor.id);
      if (this.#mayAudit(auditor, hire, round, asked)) return auditor;
    }
    return undefined;
  }

  #mayAudit(auditor: Auditor, hire: number, round: number, asked: PoolAudit["asked"]): boolean {
    const last = this.#pairs[this.#pairOf(auditor, hire)] as number;
    if (last > this.#now - this.#market.rules.pairSeconds) return false;
    const mayBeLinked = round > 1 && this.#market.areLinked && auditor.isColluder;
    return asked.every((it) => it.auditor !== auditor && !(mayBeLinked && it.auditor.isColluder));
  }

  #pairOf({ id }: Auditor, hire: number): number {
    return id * this.#market.buyers + (hire % this.#market.buyers);
  }

  /** Takes the verdicts of the auditors that were asked, before the next hire. */
  #hear(asked: PoolAudit[]): void {
    for (const audit of asked) {
      const { auditor, word } = audit.asked.at(-1) as PoolAudit["asked"][number];
      if (word === null) continue;
      this.#silent[auditor.id] = 0;
      if (word === "inconclusive") this.#nextAttempt(audit);
      else this.#decide(audit);
    }
  }

  #decide(audit: PoolAudit): void {
    const count = (word: string) => audit.asked.filter((it) => it.word === word).length;
    const [passes, fails] = [count("pass"), count("fail")];
    if (fails >= 2) this.#end(audit, "failed");
    else if (passes >= 2) this.#end(audit, "passed");
    else if (passes + fails > 1 || fails === 1) this.#await(audit, audit.round + 1);
    else {
      audit.status = "rechecking";
      this.#rechecks.push(audit);
    }
  }

  #await(audit: PoolAudit, round: number): void {
    if (round !== audit.round) audit.attempt = 0;
    audit.round = round;
    audit.status = "assigning";
    this.#waiting.push(audit);
  }

  #nextAttempt(audit: PoolAudit): void {
    if (audit.attempt < this.#market.rules.maxAttempts) this.#await(audit, audit.round);
    else {
      this.#endAttempt(audit);
      this.#end(audit, "inconclusive");
    }
  }

  /**
   * An auditor that missed too many answers in a row leaves the roster. The last auditor moves to the free
   * place.
   */
  #endAttempt({ attempt, asked }: PoolAudit): void {
    const last = asked.at(-1);
    if (attempt === 0 || last === undefined || last.word !== null) return;
    const { auditor } = last;
    const silent = (this.#silent[auditor.id] as number) + 1;
    this.#silent[auditor.id] = silent;
    const place = this.#roster.indexOf(auditor);
    if (silent < this.#market.rules.maxUnanswered || place < 0) return;
    const lastOne = this.#roster.pop() as Auditor;
    if (lastOne !== auditor) this.#roster[place] = lastOne;
    this.#silent[auditor.id] = 0;
    this.#removed.push(auditor);
    this.returned++;
  }

  #end(audit: PoolAudit, status: PoolAudit["status"]): void {
    audit.status = status;
    this.#open.delete(audit);
    this.#onEnd(audit);
  }
}
