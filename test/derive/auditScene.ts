import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, EventLog, wallet } from "./eventLog.ts";

export const [SELLER, BUYER, OPERATOR, AUDITED] = [1, 2, 20, 22].map(wallet) as [
  Address,
  Address,
  Address,
  Address,
];
export const POOL = wallet(24);
export const HASHES = { params_hash: `0x${"a1".repeat(32)}`, result_hash: `0x${"b2".repeat(32)}` };
export const OTHER_HASHES = { ...HASHES, result_hash: `0x${"c3".repeat(32)}` };
export const tickHash = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;

type Scene = {
  audit?: RecordBody;
  auditArbiters?: Address[];
  auditors?: number;
  endpoint?: (n: number) => string;
};

/**
 * A seller that agreed to audits a day ago, and auditors in Tier 2 on the roster. The auditors spent money before they
 * were paid, so each auditor has its own family.
 */
export function scene({
  audit = {},
  auditArbiters = [],
  auditors = 3,
  endpoint = (n) => `https://auditor-${n}.example`,
}: Scene = {}) {
  const log = new EventLog({
    operator: OPERATOR,
    claimAttestors: [OPERATOR],
    auditArbiters,
    tier2MinSuccesses: 1,
    tier2MinCapabilities: 1,
    audit: { operators: { [AUDITED]: { pool: POOL } }, ratePpm: 1_000_000, recheckPpm: 0, ...audit },
  });
  log.listing(SELLER, "text.translate", { audit: { operator: AUDITED } });
  for (let n = 0; n < auditors; n++) {
    log.transfer(wallet(100 + n), wallet(98), 1);
    log.hire(wallet(100 + n), wallet(99));
    offer(log, wallet(100 + n), { endpoint: endpoint(n) });
  }
  log.after(DAY).tick(tickHash(1));
  return log;
}

export function offer(log: EventLog, agent: Address, more: RecordBody = {}): void {
  log.record("auditor", agent, {
    agent_id: agent,
    operator: AUDITED,
    capabilities: ["text.translate"],
    endpoint: "https://auditor.example",
    active: true,
    issued_at: 1,
    ...more,
  });
}

/** The audits in order, and their assignments. */
export function auditsIn(store: MemoryStore) {
  const audits = [...store.rows("audit").values()];
  const asked = [...store.rows("auditAssignment").values()];
  return { audits, asked, statuses: audits.map(({ status }) => status) };
}

export async function only(log: EventLog) {
  const { store } = await log.derive();
  const { audits, asked } = auditsIn(store);
  const [audit] = audits;
  if (audit === undefined) throw new Error("nothing is audited");
  return { store, audit, asked, last: asked.at(-1) as Row<"auditAssignment"> };
}

/** Gives the verdict of the last assigned auditor. */
export async function say(log: EventLog, verdict: string, more: RecordBody = {}): Promise<string> {
  const { store, last } = await only(log);
  const audit = store.rows("audit").get(last.audit) as Row<"audit">;
  return log.record("audit_verdict", last.auditor as Address, {
    hire: last.hire,
    round: last.round,
    attempt: last.attempt,
    verdict,
    reasons: [{ code: "other", detail: "" }],
    params_hash: audit.paramsHash,
    result_hash: audit.resultHash,
    ...more,
  });
}
