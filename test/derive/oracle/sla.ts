import type { RecordEvent } from "tallystick-derive/events";
import { InvalidInputError } from "tallystick-protocol/errors";
import { breachId } from "tallystick-protocol/records/breachId";
import { parseSla, type Sla } from "tallystick-protocol/records/sla";
import { parseSlaDispute } from "tallystick-protocol/records/slaDispute";
import { parseSlaRuling } from "tallystick-protocol/records/slaRuling";
import type { Facts, Hire } from "./facts.ts";
import { buyerFamilyOf, ownFamilyOf } from "./families.ts";

type Terms = Sla["guarantees"][number];
type Promised = {
  agent: string;
  n: number;
  terms: Terms;
  fromDay: number;
  boundUntil: number | null;
  isGone: boolean;
  open: Breach | null;
  last: number | null;
  closes: { day: number; value: Value }[];
  closedDay: number;
  shown: { current: number | null; status: string; days: number | null };
};
type Breach = {
  id: string;
  of: Promised;
  terms: Terms;
  value: number;
  days: number[];
  status: "detected" | "disputed" | "confirmed" | "overturned";
  detected: number;
  /** The hires that were counted when it was detected. */
  known: ReadonlySet<Hire>;
  decidedBy: number;
  confirmed: number | null;
  closed: number | null;
  good: number;
  checked: number;
  owed: number;
};
type Value = { n: number; d: number };
type Day = { day: number };

/** The compared values of an agent's SLA. */
export type ExpectedSla = {
  status: string;
  guarantees: (string | number | null)[][];
  breaches: (string | number | null)[][];
};

const DAY = 86_400;
const dayOf = (time: number) => Math.floor(time / DAY);
const isLatency = ({ metric }: Terms) => metric.startsWith("latency");
const windowOf = ({ measurement_window: text }: Terms) => Number(text.split(" ")[0]);
/** Decimals in generated logs have few digits, so these products are exact. */
const isWorse = (terms: Terms, { n, d }: Value, bound: string) => {
  const digits = (bound.split(".")[1] ?? "").length;
  const [left, right] = [n * 10 ** digits, Math.round(Number(bound) * 10 ** digits) * d];
  return isLatency(terms) ? left > right : left < right;
};
const rounded = ({ n, d }: Value) => Number((2n * BigInt(n) * 10n ** 9n + BigInt(d)) / (2n * BigInt(d)));

/**
 * A second computation of SLAs: every figure from all hires and slots, and every breach by the text of docs/steward.md.
 */
export class SlaBook {
  readonly #facts: Facts;
  readonly #isExcused: (hire: Hire) => boolean;
  readonly slas = new Map<string, { issuedAt: number; firstDay: number; made: number; status: string }>();
  readonly promised: Promised[] = [];
  readonly breaches: Breach[] = [];
  readonly #suspended: { agent: string; breach: Breach; from: number; until: number }[] = [];

  constructor(facts: Facts, isExcused: (hire: Hire) => boolean) {
    this.#facts = facts;
    this.#isExcused = isExcused;
  }

  read(event: RecordEvent): void {
    try {
      if (event.type === "sla") this.#promise(event);
      if (event.type === "sla_dispute") this.#dispute(event);
      if (event.type === "sla_ruling") this.#rule(event);
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error;
    }
  }

  #promise({ body, signer, time }: RecordEvent): void {
    const { agent_id: agent, guarantees, issued_at: issuedAt } = parseSla(body);
    const known = this.slas.get(agent);
    if (signer !== agent || !this.#facts.agents.has(agent) || issuedAt > time) return;
    if (known !== undefined && known.issuedAt >= issuedAt) return;
    const valid = this.promised.filter((it) => it.agent === agent && !it.isGone);
    const old = valid.filter((it) => it.boundUntil === null);
    const likeOf = (terms: Terms) =>
      old.find(
        (it) =>
          it.terms.metric === terms.metric &&
          it.terms.measurement_window === terms.measurement_window &&
          !asksLess(terms, it.terms),
      );
    if (valid.length + guarantees.filter((terms) => !likeOf(terms)).length > 64) return;
    const sla = known ?? { issuedAt, firstDay: dayOf(time), made: 0, status: "compliant" };
    this.slas.set(agent, sla);
    sla.issuedAt = issuedAt;
    const kept: Promised[] = [];
    for (const terms of guarantees) {
      const like = likeOf(terms);
      if (like !== undefined) {
        like.terms = terms;
        kept.push(like);
        continue;
      }
      const shown = { current: null, status: "compliant", days: null };
      const [fromDay, closedDay] = [dayOf(time) + 1, dayOf(time)];
      const more = { boundUntil: null, isGone: false, open: null, last: null, closes: [], shown };
      this.promised.push({ agent, n: sla.made++, terms, fromDay, closedDay, ...more });
    }
    for (const it of old)
      if (!kept.includes(it)) it.boundUntil = time + this.#facts.params.steward.replacedSeconds;
  }

  #dispute({ body, signer, time }: RecordEvent): void {
    const { breach: id, agent_id: agent } = parseSlaDispute(body);
    const breach = this.breaches.find((it) => it.id === id);
    if (breach === undefined || breach.of.agent !== agent || signer !== agent) return;
    if (breach.status !== "detected" || time > breach.decidedBy) return;
    breach.status = "disputed";
    breach.decidedBy = time + this.#facts.params.steward.reviewSeconds;
  }

  #rule({ body, signer, time }: RecordEvent): void {
    const { breach: id, ruling } = parseSlaRuling(body);
    const breach = this.breaches.find((it) => it.id === id);
    if (breach === undefined || !this.#facts.params.steward.arbitrators.some((it) => it === signer)) return;
    const isAwaited = breach.status === "disputed" && time <= breach.decidedBy;
    if (ruling === "upheld" && isAwaited) this.#confirm(breach, time);
    if (ruling !== "overturned" || breach.status === "detected" || breach.status === "overturned") return;
    if (breach.status === "confirmed") breach.owed = 0;
    breach.status = "overturned";
    breach.closed ??= time;
    for (const it of [...this.#suspended])
      if (it.breach === breach) this.#suspended.splice(this.#suspended.indexOf(it), 1);
    this.#reopen(breach, dayOf(time) + 1);
  }

  #reopen(breach: Breach, fromDay: number): void {
    if (breach.of.open !== breach) return;
    Object.assign(breach.of, { open: null, fromDay, closes: [] });
  }

  #confirm(breach: Breach, time: number): void {
    breach.status = "confirmed";
    breach.confirmed = time;
    const { penalty } = breach.terms;
    if (penalty.type === "temporary_suspension") {
      const from = time + this.#facts.params.steward.suspensionNoticeSeconds;
      const until = from + Number(penalty.duration.split(" ")[0]) * DAY;
      this.#suspended.push({ agent: breach.of.agent, breach, from, until });
    }
    if (penalty.type === "financial") {
      const [from = 0, to = 0] = breach.days;
      // A hire that was paid or counted after the breach was found is owed nothing.
      const before = (it: Hire) => it.time < breach.detected && breach.known.has(it);
      const all = this.#hires(breach.of.agent, from, to).filter(before);
      const total = all.reduce((sum, it) => sum + it.price, 0n);
      for (const some of Map.groupBy(all, (it) => it.buyer).values()) {
        const price = some.reduce((sum, it) => sum + it.price, 0n);
        const amount = BigInt(Math.round(Number(penalty.amount) * 1e6));
        if (total > 0n) breach.owed += Number((amount * price) / total);
      }
    }
  }

  /** Runs at every tick. Confirms a breach that was not disputed in time, or got no ruling in time. */
  tick(time: number): void {
    for (const it of this.breaches)
      if ((it.status === "detected" || it.status === "disputed") && time > it.decidedBy)
        this.#confirm(it, time);
  }

  /** The hourly check of an agent. Returns the remaining share of its score as a fraction. */
  look(agent: string, time: number, slots: { all: Day[]; down: Day[] }): { n: bigint; d: bigint } {
    const sla = this.slas.get(agent);
    if (sla === undefined) return { n: 1n, d: 1n };
    // The reports of a day's last hour may come for two hours after the day.
    let closedDay = dayOf(time);
    while ((closedDay + 1) * DAY + 7_200 >= time) closedDay--;
    const measure = (terms: Terms, from: number, to: number) => this.#measure(agent, slots, terms, from, to);
    for (const it of this.breaches) {
      if (it.of.agent !== agent || it.status === "overturned") continue;
      for (; it.checked < closedDay; it.checked++) {
        const day = it.checked + 1;
        const own = measure(it.terms, day, day);
        if (own === null || isWorse(it.terms, own.value, it.terms.target)) continue;
        if (it.confirmed !== null && day > dayOf(it.confirmed) && it.good < 30) it.good++;
        if (it.closed !== null) continue;
        it.closed = time;
        const ends = this.#suspended.flatMap(({ agent: whose, until }) =>
          whose === agent ? [dayOf(until) + 1] : [],
        );
        this.#reopen(it, Math.max(day + 1, ...ends));
      }
    }
    let worst = 0;
    for (const it of this.promised) {
      if (it.agent !== agent || it.isGone) continue;
      it.isGone = it.boundUntil !== null && time >= it.boundUntil && it.open === null;
      if (!it.isGone) worst = Math.max(worst, this.#lookAt(it, time, closedDay, measure));
    }
    sla.status = ["compliant", "at_risk", "breached"][worst] ?? "";
    let left = { n: 1n, d: 1n };
    for (const { of, status, terms, good } of this.breaches) {
      if (of.agent !== agent || status !== "confirmed" || terms.penalty.type !== "trust_score_reduction")
        continue;
      const amount = BigInt(Math.round(Number(terms.penalty.amount) * 1e9));
      left = { n: left.n * (30n * 10n ** 9n - amount * BigInt(30 - good)), d: left.d * 30n * 10n ** 9n };
    }
    return left;
  }

  #lookAt(
    it: Promised,
    time: number,
    closedDay: number,
    measure: (terms: Terms, from: number, to: number) => { value: Value; isEnough: boolean } | null,
  ): number {
    const { terms } = it;
    const today = dayOf(time);
    const first = (day: number) => Math.max(it.fromDay, day - windowOf(terms) + 1);
    for (let day = Math.max(it.closedDay + 1, it.fromDay); day <= closedDay; day++) {
      const then = measure(terms, first(day), day);
      if (then !== null) it.closes.push({ day, value: then.value });
    }
    it.closedDay = Math.max(it.closedDay, closedDay);
    const now = measure(terms, first(today), today);
    const isBreach =
      now?.isEnough === true &&
      isWorse(terms, now.value, terms.breach_threshold) &&
      this.#isOfMany(it, first(today), today);
    if (now !== null && isBreach && it.open === null) {
      const id = breachId({
        agent: it.agent,
        guarantee: `${terms.metric}/${windowOf(terms)}/${it.n}`,
        detected: time,
      });
      const decidedBy = time + this.#facts.params.steward.disputeSeconds;
      const blank = { confirmed: null, closed: null, good: 0, checked: today, owed: 0 };
      const days = [first(today), today];
      it.open = {
        ...blank,
        id,
        of: it,
        terms,
        value: rounded(now.value),
        days,
        status: "detected",
        detected: time,
        known: new Set(this.#facts.hires),
        decidedBy,
      };
      it.last = time;
      this.breaches.push(it.open);
    }
    const isShort = now !== null && isWorse(terms, now.value, terms.target);
    const status = it.open !== null ? 2 : isShort ? 1 : 0;
    const days = now === null || it.open !== null ? null : daysLeft(it, rounded(now.value));
    const named = ["compliant", "at_risk", "breached"][status] ?? "";
    it.shown = { current: now === null ? null : rounded(now.value), status: named, days };
    return status;
  }

  #hires(agent: string, from: number, to: number): Hire[] {
    const firstDay = this.slas.get(agent)?.firstDay ?? 0;
    return this.#facts.hires.filter((it) => {
      const day = dayOf(it.time);
      if (it.isCanary) return false;
      const isFar = it.seller === agent && it.size === 1 && day > firstDay && day >= from && day <= to;
      return isFar && buyerFamilyOf(this.#facts, it) !== ownFamilyOf(this.#facts, agent);
    });
  }

  #isFailure(hire: Hire): boolean {
    return hire.outcome === "failure" && !this.#isExcused(hire);
  }

  #measure(agent: string, slots: { all: Day[]; down: Day[] }, terms: Terms, from: number, to: number) {
    if (terms.metric === "uptime") {
      const within = (some: Day[]) => some.filter(({ day }) => day >= from && day <= to).length;
      const data = within(slots.all);
      return data === 0 ? null : { value: { n: data - within(slots.down), d: data }, isEnough: data >= 216 };
    }
    const hires = this.#hires(agent, from, to);
    if (terms.metric === "success_rate") {
      const ok = hires.filter((it) => it.outcome === "success").length;
      const all = ok + hires.filter((it) => this.#isFailure(it)).length;
      return all === 0 ? null : { value: { n: ok, d: all }, isEnough: all >= 20 };
    }
    const sorted = hires.flatMap((it) => it.latency ?? []).sort((a, b) => a - b);
    const rank = Math.ceil((sorted.length * Number(terms.metric.slice(-2))) / 100);
    const value = sorted[rank - 1];
    return value === undefined ? null : { value: { n: value, d: 1 }, isEnough: sorted.length >= 20 };
  }

  /** Whether three families have a bad hire, and the mean of the families' shares of good hires is below the threshold. */
  #isOfMany({ agent, terms }: Promised, from: number, to: number): boolean {
    if (terms.metric === "uptime") return true;
    const seen = this.#hires(agent, from, to).flatMap((it) => {
      const family = buyerFamilyOf(this.#facts, it);
      if (isLatency(terms)) {
        if (it.latency === null) return [];
        return [{ family, isBad: isWorse(terms, { n: it.latency, d: 1 }, terms.breach_threshold) }];
      }
      const isBad = this.#isFailure(it);
      return isBad || it.outcome === "success" ? [{ family, isBad }] : [];
    });
    const votes = [...Map.groupBy(seen, ({ family }) => family)].filter(([family]) => family !== "deep");
    const shares = votes.map(([, all]) =>
      rounded({ n: all.filter((it) => !it.isBad).length, d: all.length }),
    );
    const least = isLatency(terms)
      ? Number(terms.metric.slice(-2)) * 1e7
      : Number(terms.breach_threshold) * 1e9;
    const angry = votes.filter(([, all]) => all.some((it) => it.isBad)).length;
    return angry >= 3 && shares.reduce((a, b) => a + b, 0) < Math.round(least) * votes.length;
  }

  expected(): { [agent: string]: ExpectedSla } {
    return Object.fromEntries(
      [...this.slas].map(([agent, { status }]) => [
        agent,
        {
          status,
          guarantees: this.promised
            .filter((it) => it.agent === agent)
            .map(({ n, terms, fromDay, boundUntil, open, last, shown }) => [
              `${terms.metric}/${windowOf(terms)}/${n}`,
              fromDay,
              boundUntil,
              open?.id ?? null,
              last,
              shown.current,
              shown.status,
              shown.days,
            ]),
          breaches: this.breaches
            .filter((it) => it.of.agent === agent)
            .map((it) => [
              it.id,
              it.status,
              it.value,
              ...it.days,
              it.decidedBy,
              it.confirmed,
              it.closed,
              it.good,
              it.owed,
            ]),
        },
      ]),
    );
  }
}

function asksLess(terms: Terms, than: Terms): boolean {
  const worse = (a: string, b: string) => (isLatency(terms) ? Number(a) > Number(b) : Number(a) < Number(b));
  if (worse(terms.target, than.target) || worse(terms.breach_threshold, than.breach_threshold)) return true;
  const [now, then] = [terms.penalty, than.penalty];
  if (now.type === "temporary_suspension" && then.type === now.type)
    return Number.parseInt(now.duration, 10) < Number.parseInt(then.duration, 10);
  if (now.type === "badge_revocation" && then.type === now.type)
    return then.revoke.some((it) => !now.revoke.includes(it));
  if (now.type === "financial" && then.type === now.type) return Number(now.amount) < Number(then.amount);
  if (now.type === "trust_score_reduction" && then.type === now.type)
    return Number(now.amount) < Number(then.amount);
  return true;
}

/** The days until a breach, from the slope by least squares: covariance divided by variance, in exact fractions. */
function daysLeft({ terms, closes }: Promised, current: number): number | null {
  const last = closes.slice(-7);
  if (last.length < 3) return null;
  const n = BigInt(last.length);
  const xs = last.map(({ day }) => BigInt(day));
  const ys = last.map(({ value }) => BigInt(rounded(value)));
  const sum = (values: bigint[]) => values.reduce((a, b) => a + b, 0n);
  const [meanX, meanY] = [sum(xs), sum(ys)];
  const covariance = sum(xs.map((x, at) => (n * x - meanX) * (n * (ys[at] ?? 0n) - meanY)));
  const variance = sum(xs.map((x) => (n * x - meanX) ** 2n));
  const towards = isLatency(terms) ? covariance : -covariance;
  const gap = BigInt(Math.round(Number(terms.breach_threshold) * 1e9)) - BigInt(current);
  const left = isLatency(terms) ? gap : -gap;
  if (towards <= 0n || left < 0n) return null;
  return Number((left * variance + towards - 1n) / towards);
}
