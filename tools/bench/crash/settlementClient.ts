import { TallystickError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { parseSignedNote } from "tallystick-protocol/note/signedNote";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signBody, signRecord } from "tallystick-protocol/records/record";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { SettlementService } from "../../../services/settlement/service.ts";

/** The time of service, chain and clients at the beginning, in unix seconds. */
export const NOW = 1_767_225_600;
export const API_KEY = "crash-key";

/** A key that the operator gave to one agent. */
export const AGENT_KEY = "crash-agent";
export const agent = `0x${"a9".repeat(20)}` as const;
const HOUR = 3_600;

/** How long the client waits for the chain's first answer to the service. */
const PATIENCE_MS = 120_000;

const account = (byte: string): PrivateKeyAccount => privateKeyToAccount(`0x${byte.repeat(32)}`);
export const OPERATOR_KEY = `0x${"55".repeat(32)}` as const;
export const operator = privateKeyToAccount(OPERATOR_KEY);
const seller = account("11");
const swarm = [account("61"), account("62"), account("63")] as const;
const addressOf = (who: PrivateKeyAccount): string => who.address.toLowerCase();

/** Everything that a service has confirmed to others. They may always rely on it. */
export type Confirmed = {
  /** Entries, each with its task or its record. */
  entries: { of: string; hash: string; index: number }[];
  /** Proposals that were answered as held. */
  held: { task: string; id: string }[];
  /** Heads that it has signed. */
  heads: { size: number; root: Hex }[];
  /** The keys that verify the heads. */
  keys: string[];
  /** Proposals that must be rejected, and how often each was sent. */
  rejected: { task: string; sent: number; isAnswered: boolean }[];
  /** The present time of service, chain and clients. */
  now: number;
};

export function nothingConfirmed(): Confirmed {
  return { entries: [], held: [], heads: [], keys: [], rejected: [], now: NOW };
}

/**
 * One thing that a client does with the service. A step that is repeated after a failure continues where it ended.
 */
export type Step = (client: SettlementClient) => Promise<void>;

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Answer = { status: number; json: any };

/** Plays all clients of a service, and records everything that the service confirms. */
export class SettlementClient {
  readonly confirmed: Confirmed;
  readonly #service: SettlementService;
  readonly #ledger: LedgerName;

  constructor(service: SettlementService, ledger: LedgerName, confirmed: Confirmed) {
    this.#service = service;
    this.#ledger = ledger;
    this.confirmed = confirmed;
  }

  /**
   * Sends a request. On a busy machine the chain's first answer to the service may be late. The service accepts no
   * writes until then, so the client sends its request again.
   */
  async #ask(path: string, body?: unknown, key = API_KEY): Promise<Answer> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.#askOnce(path, body, key);
      if (answer.json?.code !== "chain_unknown" || performance.now() > end) return answer;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #askOnce(path: string, body: unknown, key: string): Promise<Answer> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const response = await this.#service.app.request(path, {
      headers,
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json");
    return { status: response.status, json: isJson ? JSON.parse(text) : text };
  }

  #heard(of: string, { hash, index }: { hash: string; index: number }): void {
    const before = this.confirmed.entries.find((one) => one.of === of);
    if (before === undefined) this.confirmed.entries.push({ of, hash, index });
    else if (before.hash !== hash || before.index !== index)
      throw failure(`${of} was entry ${before.index}, ${before.hash}, and now is entry ${index}, ${hash}`);
  }

  /** Reads what the service signs by itself. */
  async look(): Promise<void> {
    const { status, json: note } = await this.#ask("/v1/ledger/checkpoint");
    if (status === 200) {
      const { size, root } = parseCheckpoint(parseSignedNote(note).text);
      const head = { size, root: toHex(root) };
      const same = this.confirmed.heads.find((one) => one.size === size);
      if (same === undefined) this.confirmed.heads.push(head);
      else if (same.root !== head.root) throw failure(`two heads of ${size} entries were signed`);
    }
    const key = (await this.#ask("/v1/ledger/key")).json;
    if (!this.confirmed.keys.includes(key)) this.confirmed.keys.push(key);
  }

  /** Settles a task's proposal on the present head, unless it is settled already. */
  async propose(task: string, key = API_KEY): Promise<void> {
    const known = await this.#ask(`/v1/status/${task}`);
    if (known.status === 200) return this.#heard(task, known.json);
    for (;;) {
      const answer = await this.#ask("/v1/settle", await this.#proposal(task), key);
      if (answer.json.status === "SETTLED") return this.#heard(task, answer.json);
      if (answer.json.head === undefined) throw failure(`${task}: ${JSON.stringify(answer)}`);
    }
  }

  /** As an agent, sends a proposal that the service must reject. Does nothing if the service has rejected it already. */
  async reject(task: string): Promise<void> {
    const known = this.confirmed.rejected.find((one) => one.task === task);
    if (known?.isAnswered) return;
    const here = known ?? { task, sent: 0, isAnswered: false };
    if (known === undefined) this.confirmed.rejected.push(here);
    const { header, payload } = await this.#proposal(task);
    here.sent++;
    const unsure = { header, payload: { ...payload, confidence_score: 0.1 } };
    const answer = await this.#ask("/v1/settle", unsure, AGENT_KEY);
    if (answer.json.status !== "REJECTED") throw failure(`${task}: ${JSON.stringify(answer)}`);
    here.isAnswered = true;
  }

  /**
   * Sets the time to two hours after the beginning of an hour, lets the service publish the outcomes of this hour, and
   * checks how much the agent settled in it.
   */
  async outcomes(hour: number, settled: number): Promise<void> {
    this.confirmed.now = Math.max(this.confirmed.now, (hour + 2) * HOUR);
    await this.#service.tellOutcomes?.();
    const { ledger } = this.#service;
    for (let at = 0; at < ledger.size; at++) {
      const { payload, currentHash } = await ledger.entry(at);
      const { type, hour: of, agents } = (payload.body ?? {}) as { [field: string]: unknown };
      if (type !== "outcomes" || Number(of) !== hour) continue;
      const { ok, fail } = (agents as { [address: string]: { ok: bigint; fail: bigint } })[agent] ?? {};
      const answered = this.confirmed.rejected.filter((one) => one.isAnswered).length;
      const sent = this.confirmed.rejected.reduce((sum, one) => sum + one.sent, 0);
      if (Number(ok) !== settled || Number(fail) < answered || Number(fail) > sent)
        throw failure(`${settled} settled, ${answered} to ${sent} rejected; published: ${ok} and ${fail}`);
      return this.#heard(`outcomes of hour ${hour}`, { hash: currentHash, index: at });
    }
    throw failure(`no outcomes of hour ${hour} in the ledger`);
  }

  /** Sends a proposal whose shadow differs, so that the service holds it. Does nothing if it is held already. */
  async hold(task: string): Promise<void> {
    if (this.confirmed.held.some((one) => one.task === task)) return;
    const known = await this.#ask(`/v1/status/${task}`);
    if (known.status === 200) {
      this.confirmed.held.push({ task, id: known.json.held[0].id });
      return;
    }
    const shadow = { payload: { data_update: { task: "another" } } };
    const answer = await this.#ask("/v1/settle", { ...(await this.#proposal(task)), shadow });
    if (answer.json.status !== "ESCROWED") throw failure(`${task}: ${JSON.stringify(answer)}`);
    this.confirmed.held.push({ task, id: answer.json.id });
  }

  /** Sends the operator's decision on the held proposal of a task. */
  async review(task: string, decision: "release" | "reject"): Promise<void> {
    const { id } = this.confirmed.held.find((one) => one.task === task) as { id: string };
    const json = await this.#record(`/v1/reviews/${id}`, "review", operator, {
      proposal: id,
      decision,
      reason: "looked at it",
    });
    if (decision === "release") this.#heard(task, json.released);
  }

  async receipt(number: number): Promise<void> {
    const body: RecordBody = {
      agent_id: addressOf(seller),
      buyer: `0x${"22".repeat(20)}`,
      capability: "text.translate.en.it",
      hire_id: `hire-${number}`,
      tx_hash: `0x${number.toString(16).padStart(64, "0")}`,
      amount_usdc_atomic: "500000",
      network: "eip155:31337",
      completed_at: NOW - 60,
      protocol_version: "swarmwage/v0.3",
      verification: { all_passed: true, checks: { non_empty: true } },
    };
    await this.#settle("/v1/receipts", `receipt ${number}`, {
      body,
      signature: await signBody(body, { account: seller }),
    });
  }

  async listing(): Promise<void> {
    const body: RecordBody = {
      agent_id: addressOf(seller),
      capability: "text.translate.en.it",
      price_usdc: "0.50",
      max_latency_ms: 8_000,
      endpoint: "https://203.0.114.7/hire",
    };
    await this.#settle("/v1/listings", "listing", {
      body,
      signature: await signBody(body, { account: seller }),
    });
  }

  /** Sends a stake on a task's result, or a vote. */
  async say(type: "stake" | "verify", task: string, who: 0 | 1 | 2): Promise<void> {
    await this.#record(`/v1/${type}`, type, swarm[who], { task_id: task, proposal: "cd".repeat(32) });
  }

  async #record(
    path: string,
    type: string,
    who: PrivateKeyAccount,
    fields: RecordBody,
  ): Promise<Answer["json"]> {
    const { body, signature } = await signRecord({ type, ledger: this.#ledger, body: fields, account: who });
    return this.#settle(path, `${type} of ${addressOf(who)}, ${fields.task_id}, ${fields.proposal}`, {
      body,
      signature,
    });
  }

  async #settle(path: string, of: string, envelope: unknown): Promise<Answer["json"]> {
    const { status, json } = await this.#ask(path, envelope);
    if (status !== 200 && status !== 201) throw failure(`${of}: ${status} ${JSON.stringify(json)}`);
    this.#heard(of, json);
    return json;
  }

  async #proposal(task: string): Promise<{ header: object; payload: object }> {
    const { hash } = (await this.#ask("/v1/ledger/latest")).json;
    return {
      header: { task_id: task, parent_hash: hash },
      payload: { data_update: { task, padding: "x".repeat(200) }, confidence_score: 0.9 },
    };
  }

  /** Lets the service read its ledger back, and returns its answer. */
  verify(): Promise<Answer> {
    return this.#ask("/v1/ledger/verify");
  }

  /** Whether the swarm has agreed on a task. */
  async isFinal(task: string): Promise<boolean> {
    return (await this.#ask(`/v1/status/${task}`)).json.consensus?.final === "cd".repeat(32);
  }

  /** Checks that everything that the service confirmed is still true. */
  async check(confirmed: Confirmed): Promise<void> {
    const { ledger } = this.#service;
    for (const { of, hash, index } of confirmed.entries) {
      const found = index < ledger.size ? (await ledger.entry(index)).currentHash : undefined;
      if (found !== hash) throw failure(`${of} was answered as entry ${index}, ${hash}, which is ${found}`);
    }
    for (const { size, root } of confirmed.heads) {
      const found = size <= ledger.size ? toHex(ledger.tree.root(size)) : undefined;
      if (found !== root) throw failure(`the head of ${size} entries is ${found}, but ${root} was published`);
    }
    for (const { task, id } of confirmed.held) {
      const { status } = await this.#ask(`/v1/reviews/${id}`);
      if (status !== 200) throw failure(`${task} was answered as held under ${id}, which gives ${status}`);
    }
    const key = (await this.#ask("/v1/ledger/key")).json;
    if (confirmed.keys.some((one) => one !== key))
      throw failure(`the key was ${confirmed.keys}, and is ${key}`);
  }
}

/** The error for something that must never happen after a crash. */
export function failure(message: string): TallystickError {
  return new TallystickError({ code: "crash_test_failed", message });
}
