import { createHash } from "node:crypto";
import fc from "fast-check";
import { apply } from "tallystick-derive/apply";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, EventLog, HOUR, wallet } from "../eventLog.ts";

/** 1–3 sell with consent, 4–6 buy, 7–14 audit, 20 operates, 21 attests, 22 and 23 operate audits, 24 and 25 are their pools. */
const [OPERATOR, ATTESTOR, ONE, OTHER] = [20, 21, 22, 23].map(wallet) as [Address, Address, Address, Address];
const POOLS = { [ONE]: { pool: wallet(24) }, [OTHER]: { pool: wallet(25) } };
const AUDITORS = Array.from({ length: 8 }, (_, n) => wallet(7 + n));
const CAPABILITIES = ["text.translate", "code.review"] as const;

const seller = fc.integer({ min: 1, max: 3 }).map(wallet);
const buyer = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 4, max: 6 }).map(wallet) },
  { weight: 3, arbitrary: fc.constantFrom(wallet(7), wallet(8), wallet(24), wallet(2)) },
);
const auditor = fc.constantFrom(...AUDITORS);
const operator = fc.constantFrom(ONE, ONE, ONE, OTHER);
const capability = fc.constantFrom(...CAPABILITIES);
const hashes = fc.constantFrom("both", "both", "both", "both", "both", "both", "both", "one", "none");

const action = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("hire" as const),
      seller,
      buyer,
      capability: fc.oneof(
        { weight: 6, arbitrary: capability },
        { weight: 1, arbitrary: fc.constant("data.extract") },
      ),
      hashes,
      atomic: fc.constantFrom(999, 1_000, 500_000),
      count: fc.constantFrom(1, 1, 1, 7),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("escrow" as const),
      seller,
      buyer,
      capability,
      hashes,
      order: fc.constantFrom("receipt,release", "release,receipt", "mark,refund", "receipt", "mark,release"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("list" as const),
      seller,
      capability,
      audit: fc.oneof(operator, fc.constant(null), fc.constant("other" as const)),
      mode: fc.constantFrom("direct", "platform_escrow:swarmwage-partnered"),
      retired: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("again" as const),
      pick: fc.nat(),
      hashes: fc.constantFrom("both", "other"),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("offer" as const),
      auditor,
      operator,
      capabilities: fc.constantFrom([...CAPABILITIES], [...CAPABILITIES], [CAPABILITIES[0]], []),
      active: fc.constantFrom(true, true, true, false),
      host: fc.nat({ max: 3 }),
      back: fc.boolean(),
    }),
  },
  {
    weight: 18,
    arbitrary: fc.record({
      do: fc.constant("verdict" as const),
      pick: fc.nat(),
      verdict: fc.constantFrom("pass", "pass", "fail", "fail", "inconclusive"),
      fault: fc.constantFrom(
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        "signer",
        "hash",
        "round",
        "attempt",
      ),
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({
      do: fc.constant("rounds" as const),
      hashes: fc.nat(),
      verdicts: fc.array(fc.constantFrom("pass", "fail", "fail", "fail", "inconclusive", null), {
        minLength: 2,
        maxLength: 5,
      }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("decide" as const),
      pick: fc.nat(),
      decision: fc.constantFrom("rollback", "rollback", "dismiss"),
      isForeign: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      auditor,
      handle: fc.constantFrom("ada", "Ada", "bob"),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant("ring" as const),
      first: fc.constantFrom(4, 5, 6, 7, 9),
      funder: fc.integer({ min: 30, max: 33 }).map(wallet),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("params" as const),
      operators: fc.constantFrom([ONE, OTHER], [ONE, OTHER], [ONE], [ONE], [OTHER], []),
      audit: fc.record(
        {
          ratePpm: fc.constantFrom(0, 1, 400_000, 999_999, 1_000_000),
          rates: fc.constantFrom<Record<string, number>>({}, { "text.translate": 500_000 }),
          recheckPpm: fc.constantFrom(0, 500_000, 1_000_000),
          consentSeconds: fc.constantFrom<number>(HOUR, DAY),
          verdictSeconds: fc.constantFrom<number>(HOUR, DAY),
          pairSeconds: fc.constantFrom<number>(HOUR, 7 * DAY),
          maxAttempts: fc.constantFrom<number>(1, 2, 3),
          maxUnanswered: fc.constantFrom<number>(1, 2, 3),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant("tick" as const),
      hash: fc.option(fc.nat(), { freq: 12 }),
      isSameBlock: fc.boolean(),
    }),
  },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

const wait = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 2 * HOUR }) },
  { weight: 3, arbitrary: fc.constantFrom(HOUR - 1, HOUR, DAY - 1, DAY, DAY + 1) },
  { weight: 1, arbitrary: fc.constantFrom(7 * DAY - 1, 7 * DAY, 7 * DAY + 1, 30 * DAY) },
);

/** What happens to hires whose sellers agreed to audits, and to those who audit them. */
export const auditSteps = fc.record({
  rates: fc.record({
    ratePpm: fc.constantFrom(300_000, 1_000_000, 1_000_000),
    recheckPpm: fc.constantFrom(0, 500_000, 1_000_000),
    pairSeconds: fc.constantFrom(1, HOUR, 7 * DAY),
  }),
  steps: fc.array(fc.record({ wait, blocks: fc.constantFrom(0, 1, 1, 1, 300), action }), {
    minLength: 12,
    maxLength: 50,
  }),
});

type AuditSteps = typeof auditSteps extends fc.Arbitrary<infer T> ? T : never;

/**
 * The log of such steps. Who is asked for a verdict is drawn by hashes, so it is derived on the way: the log is made, not judged,
 * by that.
 */
export async function auditLog({ rates, steps }: AuditSteps): Promise<EventLog> {
  const log = new EventLog({
    operator: OPERATOR,
    claimAttestors: [ATTESTOR],
    tier2MinSuccesses: 1,
    tier2MinCapabilities: 1,
    audit: { operators: POOLS, ...rates },
  });
  const build = new AuditBuilder(log);
  for (const at of [1, 2, 3]) {
    for (const it of CAPABILITIES) log.listing(wallet(at), it, { audit: { operator: ONE } });
    const mode = { payment_mode: "platform_escrow:swarmwage-partnered", audit: { operator: ONE } };
    log.listing(wallet(at), "code.review", mode);
  }
  for (const [n, agent] of AUDITORS.entries()) {
    // Each by a buyer of its own: one that pays several is taken for their common owner.
    if (n < 6) for (const it of CAPABILITIES) log.hire(agent, wallet(40 + n), { capability: it });
    if (n === 6) log.hire(agent, wallet(40 + n), { capability: "data.extract" });
    log.record("auditor", agent, {
      agent_id: agent,
      operator: n === 5 ? OTHER : ONE,
      capabilities: n === 4 ? ["code.review"] : [...CAPABILITIES],
      endpoint: `https://auditor-${n}.example/hire`,
      active: true,
      issued_at: 1_000,
    });
  }
  log.after(DAY).tick();
  for (const at of [1, 2, 3])
    await build.add({
      ...{ do: "hire", seller: wallet(at), buyer: wallet(3 + at), capability: "text.translate" },
      ...{ hashes: "both", atomic: 500_000, count: 1 },
    });
  for (const { wait: seconds, blocks, action: it } of steps) {
    if (blocks > 0) log.after(seconds, blocks);
    await build.add(it);
  }
  log.after(1).tick(hashOf(7));
  return log;
}

const hashOf = (n: number): Hex => `0x${createHash("sha256").update(String(n)).digest("hex")}`;

class AuditBuilder {
  readonly #log: EventLog;
  readonly #store = new MemoryStore();
  readonly #receipts: { seller: Address; buyer: Address; body: RecordBody }[] = [];
  #applied = 0;
  #serial = 0;
  #version = 1;
  #issued = 1_000;

  constructor(log: EventLog) {
    this.#log = log;
  }

  async add(it: Action): Promise<void> {
    const log = this.#log;
    switch (it.do) {
      case "hire":
        for (let n = 0; n < it.count; n++) this.hire(it);
        return;
      case "escrow":
        this.escrow(it);
        return;
      case "list": {
        const audit: RecordBody = it.audit === "other" ? { operator: ONE, more: 1 } : { operator: it.audit };
        log.listing(it.seller, it.capability, {
          payment_mode: it.mode,
          retired: it.retired,
          issued_at: ++this.#serial,
          ...(it.audit === null ? {} : { audit }),
        });
        return;
      }
      case "again": {
        const known = this.#receipts[it.pick % this.#receipts.length];
        if (known === undefined) return;
        const tx = log.transfer(known.buyer, known.seller, 5_000, { authorized: true });
        const { hire_id, capability } = known.body as { hire_id: string; capability: string };
        const said = it.hashes === "other" ? this.hashes("both") : { ...known.body };
        const { params_hash, result_hash } = said;
        log.receipt(known.seller, known.buyer, {
          ...{ tx, amount: 5_000, capability, hire_id },
          ...(params_hash !== undefined && { params_hash }),
          ...(result_hash !== undefined && { result_hash }),
        });
        return;
      }
      case "offer":
        log.record("auditor", it.auditor, {
          agent_id: it.auditor,
          operator: it.operator,
          capabilities: [...it.capabilities],
          endpoint: `https://host-${it.host}.example:8443/hire`,
          active: it.active,
          issued_at: it.back ? this.#issued : ++this.#issued,
        });
        return;
      case "verdict":
        await this.verdict(it);
        return;
      case "rounds":
        for (const [n, verdict] of it.verdicts.entries()) {
          log.after(verdict === null ? DAY : 60).tick(hashOf(it.hashes + n));
          if (verdict !== null) await this.verdict({ do: "verdict", pick: 1, verdict, fault: null });
        }
        return;
      case "decide":
        await this.decide(it);
        return;
      case "claim":
        log.record("claim", ATTESTOR, {
          agent_id: it.auditor,
          x_handle: it.handle,
          verification_hash: "a".repeat(64),
          state: "claimed",
        });
        return;
      case "ring":
        for (let n = it.first; n < it.first + 4; n++) log.transfer(it.funder, wallet(n), 900_000_000);
        return;
      case "params": {
        const operators = Object.fromEntries(it.operators.map((one) => [one, POOLS[one] ?? null]));
        log.record("params", OPERATOR, {
          version: ++this.#version,
          operator: OPERATOR,
          claimAttestors: [ATTESTOR],
          tier2MinSuccesses: 1,
          tier2MinCapabilities: 1,
          audit: { operators, ...it.audit } as RecordBody,
        });
        return;
      }
      case "tick":
        if (!it.isSameBlock) log.after(1);
        log.tick(it.hash === null ? undefined : hashOf(it.hash));
    }
  }

  private hashes(which: string): RecordBody {
    const [params_hash, result_hash] = [hashOf(++this.#serial), hashOf(++this.#serial)];
    return which === "none" ? {} : which === "one" ? { params_hash } : { params_hash, result_hash };
  }

  private hire(it: Extract<Action, { do: "hire" }>): void {
    if (it.seller === it.buyer) return;
    const hire_id = `audited-${++this.#serial}`;
    const said = this.hashes(it.hashes);
    const body = { hire_id, capability: it.capability, ...said };
    this.#log.hire(it.seller, it.buyer, {
      ...body,
      amount: it.atomic,
      ...(it.count === 1 && { buyer_signature: "0x02" }),
    });
    this.#receipts.push({ seller: it.seller, buyer: it.buyer, body });
  }

  private escrow({
    seller: by,
    buyer: to,
    capability: of,
    hashes: which,
    order,
  }: Extract<Action, { do: "escrow" }>): void {
    const log = this.#log;
    if (by === to) return;
    const id = log.deposit(by, to);
    const body = { hire_id: `held-${++this.#serial}`, capability: of, ...this.hashes(which) };
    for (const what of order.split(",")) {
      log.after(60);
      if (what === "receipt") log.receipt(by, to, { ...body, escrow_id: id });
      else if (what === "mark") log.delivered(id);
      else if (what === "release") log.released(id);
      else log.refunded(id, to);
    }
    if (order.includes("receipt")) this.#receipts.push({ seller: by, buyer: to, body });
  }

  private async derive(): Promise<void> {
    for (const event of this.#log.events.slice(this.#applied))
      await apply(this.#store, parseEvent(JSON.stringify(event)), { trustSignatures: true });
    this.#applied = this.#log.events.length;
  }

  private async decide({ pick, decision, isForeign }: Extract<Action, { do: "decide" }>): Promise<void> {
    await this.derive();
    const all = [...this.#store.rows("audit").values()];
    const failed = all.filter(({ status }) => status === "failed" || pick % 11 === 0);
    const audit = failed[pick % failed.length];
    if (audit === undefined) return;
    const operator = isForeign ? OTHER : (audit.operator as Address);
    const reasons = [{ code: "other", detail: "" }];
    this.#log.record("audit_actuation", operator, { hire: audit.id, decision, reasons });
    // What its buyer says after.
    const { receipt, buyer: by } = audit;
    if (receipt !== null && pick % 3 === 0)
      this.#log.record("telemetry", by as Address, {
        receipt,
        latency_ms: pick % 500,
        verification: { all_passed: true },
      });
  }

  private async verdict({ pick, verdict, fault }: Extract<Action, { do: "verdict" }>): Promise<void> {
    const log = this.#log;
    await this.derive();
    const asked = [...this.#store.rows("auditAssignment").values()].filter(
      (it) => it.verdict === null || pick % 7 === 0,
    );
    // Mostly the one asked last: its word is the one that counts.
    const chosen =
      asked[pick % 3 === 0 ? pick % asked.length : asked.length - 1 - (pick % Math.min(3, asked.length))];
    if (chosen === undefined) return;
    const audit = this.#store.rows("audit").get(chosen.hire) as Row<"audit">;
    const { hire, round, attempt } = chosen;
    log.record("audit_verdict", fault === "signer" ? wallet(1) : (chosen.auditor as Address), {
      hire,
      round: fault === "round" ? round + 1 : round,
      attempt: fault === "attempt" ? attempt + 1 : attempt,
      verdict,
      reasons: [{ code: "other", detail: "" }],
      params_hash: fault === "hash" ? hashOf(0) : audit.paramsHash,
      result_hash: audit.resultHash,
    });
  }
}
