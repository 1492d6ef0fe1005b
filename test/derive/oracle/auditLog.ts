import { createHash } from "node:crypto";
import { apply } from "tallystick-derive/apply";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { hireId } from "tallystick-protocol/hire/hireIds";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { canaryCommitment } from "tallystick-protocol/records/auditCanary";
import { DAY, EventLog, wallet } from "../eventLog.ts";
import {
  type Action,
  ATTESTOR,
  AUDITORS,
  type AuditSteps,
  CAPABILITIES,
  ONE,
  OPERATOR,
  OTHER,
  POOLS,
} from "./auditActions.ts";

/**
 * The log of these steps. Hashes draw the auditors, so the log is derived while it is made. This derivation only helps
 * to make the log. Tests derive the finished log again.
 *
 * @param begin adds to the log before the first step
 */
export async function auditLog(
  { rates, sameFamily, steps }: AuditSteps,
  begin: (log: EventLog) => void = () => undefined,
): Promise<EventLog> {
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
    // Each auditor has its own buyer. An auditor that is paid before its first act belongs to its first buyer's family,
    // so auditors with the same first buyer are one family. With `sameFamily` two auditors share a family, and one
    // auditor is in a buyer's family.
    const first = sameFamily && n === 1 ? 0 : n;
    if (n < 6) for (const it of CAPABILITIES) log.hire(agent, wallet(40 + first), { capability: it });
    if (sameFamily && n === 2) log.transfer(wallet(42), wallet(4), 1_000);
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
  begin(log);
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
          ...(it.version === null ? {} : { verification_version: it.version }),
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
      case "refund":
        await this.refund(it);
        return;
      case "canary":
        await this.canary(it);
        return;
      case "pay":
        log.transfer(it.pool, it.auditor, it.value);
        return;
      case "mode":
        log.record("audit_mode", it.isForeign ? OTHER : ONE, {
          ...{ capability: it.capability, mode: "bootstrap", justification: it.justification },
        });
        return;
      case "judge":
        await this.judge(it);
        return;
      case "history":
        await this.history(it);
        return;
      case "claim":
        log.record("claim", ATTESTOR, {
          agent_id: it.auditor,
          x_handle: it.handle,
          verification_hash: "a".repeat(64),
          nonce: String(log.events.length),
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

  /** Now and then a seller names a hire by a text that no work can match. */
  private hireId(): string {
    const serial = ++this.#serial;
    return serial % 8 === 0 ? `hire-${serial}` : hashOf(serial);
  }

  private hashes(which: string): RecordBody {
    const [params_hash, result_hash] = [hashOf(++this.#serial), hashOf(++this.#serial)];
    return which === "none" ? {} : which === "one" ? { params_hash } : { params_hash, result_hash };
  }

  private hire(it: Extract<Action, { do: "hire" }>): void {
    if (it.seller === it.buyer) return;
    const hire_id = this.hireId();
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
    const body = { hire_id: this.hireId(), capability: of, ...this.hashes(which) };
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
      apply(this.#store, parseEvent(JSON.stringify(event)), { trustSignatures: true });
    this.#applied = this.#log.events.length;
  }

  private async decide({ pick, decision, isForeign }: Extract<Action, { do: "decide" }>): Promise<void> {
    await this.derive();
    const all = [...this.#store.rows("audit").values()];
    const failed = all.filter(
      ({ status, decision }) => (status === "failed" && decision === null) || pick % 11 === 0,
    );
    const audit = failed[pick % failed.length];
    if (audit === undefined) return;
    const operator = isForeign ? OTHER : (audit.operator as Address);
    const reasons = [{ code: "other", detail: "" }];
    this.#log.record("audit_actuation", operator, { hire: audit.hire, decision, reasons });
    // A later report of the buyer.
    const { receipt, buyer: by } = audit;
    if (receipt !== null && pick % 3 === 0)
      this.#log.record("telemetry", by as Address, {
        receipt,
        latency_ms: pick % 500,
        verification: { all_passed: true },
      });
  }

  /** A buyer that takes its money back, before or after an audit of the work. */
  private async refund(it: Extract<Action, { do: "refund" }>): Promise<void> {
    const log = this.#log;
    const { seller: by, buyer: to, amount } = it;
    const arbiter = wallet(30);
    const id = log.deposit(by, to, { amount, arbiter });
    const takeBack = () =>
      it.by === "split"
        ? log.released(id, 1, amount - 1)
        : log.refunded(id, it.by === "arbiter" ? arbiter : to);
    const body = { hire_id: this.hireId(), capability: "code.review", ...this.hashes(it.hashes) };
    let receipt = "";
    for (const what of it.order.split(",")) {
      log.after(60);
      if (what === "receipt") receipt = log.receipt(by, to, { ...body, escrow_id: id, amount });
      else if (what === "mark") log.delivered(id);
      else if (what === "refund") takeBack();
      else if (what === "refund2") {
        const other = log.deposit(by, to, { amount });
        const again = { hire_id: this.hireId(), ...this.hashes("both"), escrow_id: other, amount };
        log.receipt(by, to, { ...again, capability: "code.review" });
        log.delivered(other).refunded(other, to);
      } else if (what === "tick") log.tick(hashOf(this.#serial));
      else
        log.record("telemetry", to, {
          receipt,
          verification: { all_passed: false },
          ...(what === "slow" && { latency_ms: 9 }),
        });
    }
    const rate = () => log.record("rating", to, { receipt, side: "buyer", stars: 1 + (this.#serial % 5) });
    if (it.rates === "before the verdicts") rate();
    for (const verdict of it.verdicts) {
      await this.verdict({ do: "verdict", pick: 1, verdict, fault: null });
      log.after(60).tick(hashOf(this.#serial));
    }
    if (it.rates === "last") rate();
    if (it.after === "other") log.receipt(by, to, { ...body, ...this.hashes("both"), escrow_id: id, amount });
    await this.derive();
    if (it.after === "refund" && this.#store.rows("escrow").get(id)?.status === "held") takeBack();
  }

  /** A hire that an operator arranged: the commitment, then the hire and verdicts on it, then the reveal. */
  private async canary(it: Extract<Action, { do: "canary" }>): Promise<void> {
    const log = this.#log;
    const serial = ++this.#serial;
    const buyer = wallet(1_000 + (it.fault === "twice" ? 0 : serial));
    const operator = it.fault === "foreign" ? OTHER : ONE;
    const hires = [{ buyer, nonce: `nonce-${serial}`, truth: it.truth }];
    const salt = hashOf(serial);
    const commitment = canaryCommitment({ salt, hires });
    const hire_id = it.fault === "other" ? `other-${serial}` : hireId(buyer, `nonce-${serial}`);
    const body = { hire_id, ...this.hashes("both") };
    const commit = () => log.record("audit_canary", operator, { commitment });
    if (it.fault !== "late") commit();
    log.after(60);
    let receipt: string;
    if (it.signed === "escrow") {
      const id = log.deposit(it.seller, buyer, { hireId: hireId(buyer, `nonce-${serial}`) });
      receipt = log.receipt(it.seller, buyer, { ...body, capability: "code.review", escrow_id: id });
      log.delivered(id).released(id);
    } else {
      const signature = it.signed === "receipt" && { buyer_signature: "0x02" };
      receipt = log.hire(it.seller, buyer, { ...body, ...signature });
    }
    if (it.fault === "late") commit();
    if (it.fault === "busy") log.hire(wallet(3), buyer, this.hashes("both"));
    if (it.isRated) log.record("rating", buyer, { receipt, side: "buyer", stars: 1 });
    for (const verdict of it.verdicts) {
      log.after(60).tick(hashOf(this.#serial));
      await this.verdict({ do: "verdict", pick: 1, verdict, fault: null });
    }
    if (!it.isOpen) log.after(60).tick(hashOf(serial));
    log.record("audit_canary", operator, { commitment, reveal: { salt, hires } });
    if (serial % 4 === 0) log.record("audit_canary", operator, { commitment, reveal: { salt, hires } });
    if (!it.isRated) log.record("rating", buyer, { receipt, side: "buyer", stars: 2 });
  }

  /** Lets auditors judge a hire again that its operator decided, usually to an end. */
  private async history({ pick, isForeign, verdicts }: Extract<Action, { do: "history" }>): Promise<void> {
    await this.derive();
    const failed = [...this.#store.rows("audit").values()].filter(
      ({ mode, reason }) => (mode === "bootstrap" && reason === null) || pick % 13 === 0,
    );
    const audit = failed[pick % failed.length];
    if (audit === undefined) return;
    const log = this.#log;
    const { hire, operator } = audit;
    const reasons = [{ code: "other", detail: "" }];
    const decision = pick % 2 === 0 ? "rollback" : "dismiss";
    if (pick % 7 > 0) log.record("audit_actuation", operator as Address, { hire, decision, reasons });
    log.record("audit_history", isForeign ? OTHER : (operator as Address), { hire });
    for (const [n, verdict] of verdicts.entries()) {
      log.after(60).tick(hashOf(pick + n));
      await this.verdict({ do: "verdict", pick: 1, verdict, fault: null });
    }
  }

  /** Lets the operator judge audits for which there is no auditor. */
  private async judge({ pick, verdicts, fault }: Extract<Action, { do: "judge" }>): Promise<void> {
    for (const [n, verdict] of verdicts.entries()) {
      await this.derive();
      const waiting = [...this.#store.rows("audit").values()].filter(
        ({ unassignedSince }) => unassignedSince !== null || pick % 17 === 0,
      );
      const audit = waiting[pick % waiting.length];
      if (audit === undefined) return;
      this.#log.record("audit_judge", fault === "signer" ? OTHER : (audit.operator as Address), {
        hire: audit.hire,
        round: audit.round + Number(fault === "round") + Number(audit.round === 0),
        models: ["one", "two"],
      });
      if (pick % 5 > 0) await this.verdict({ do: "verdict", pick: 1, verdict, fault: null });
      this.#log.after(pick % 2 === 0 ? DAY : 60).tick(hashOf(pick + n));
    }
  }

  private async verdict({ pick, verdict, fault }: Extract<Action, { do: "verdict" }>): Promise<void> {
    const log = this.#log;
    await this.derive();
    const asked = [...this.#store.rows("auditAssignment").values()].filter(
      (it) => it.verdict === null || pick % 7 === 0,
    );
    // Usually one of the last assigned auditors, because their verdicts count.
    const chosen =
      asked[pick % 3 === 0 ? pick % asked.length : asked.length - 1 - (pick % Math.min(3, asked.length))];
    if (chosen === undefined) return;
    const audit = this.#store.rows("audit").get(chosen.audit) as Row<"audit">;
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
