import type { Hono } from "hono";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { createApi } from "../../../indexer/api/app.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { AUDITED, HASHES, SELLER, scene, tickHash } from "../../derive/auditScene.ts";
import { DAY, type EventLog, wallet } from "../../derive/eventLog.ts";
import { beforeServerStops, testDatabase } from "../../support/testDatabase.ts";
import { fillEventLog, node } from "./apiStory.ts";

/** The id of a hire for each state that an audit may have in the story. */
export type AuditedHires = Record<
  | "rolledBack"
  | "dismissed"
  | "challenged"
  | "passed"
  | "undisclosed"
  | "assigned"
  | "secondRound"
  | "assigning"
  | "eligible",
  string
>;

type Hires = Partial<AuditedHires>;

const MODE = { payment_mode: "platform_escrow:swarmwage-partnered" };

/**
 * A seller whose hires are all audited. Their audits are in many different states. There are nine auditors, and one of
 * them has left.
 */
export async function auditedMarket(): Promise<{ log: EventLog; hires: AuditedHires }> {
  const log = scene({ auditors: 9 });
  log.listing(SELLER, "text.translate", { ...MODE, audit: { operator: AUDITED } });
  log.after(DAY);
  const hires: Hires = {};
  let ticks = 1_000;
  const tick = () => log.after(60).tick(tickHash(ticks++));
  let buyers = 1_000;
  const hire = async (name: keyof AuditedHires) => {
    log.hire(SELLER, wallet(buyers++), HASHES);
    const { store } = await log.derive();
    hires[name] = [...store.rows("audit").keys()].at(-1) as string;
  };
  const answer = async (name: keyof AuditedHires, verdict: string) => {
    const { store } = await log.derive();
    const asked = [...store.rows("auditAssignment").values()].filter((it) => it.hire === hires[name]);
    const { auditor, hire, round, attempt } = asked.at(-1) as Row<"auditAssignment">;
    const reasons = [
      { code: verdict === "pass" ? "meets_request" : "fabricated", detail: `${name}: "ü" {}` },
    ];
    log.record("audit_verdict", auditor as Address, { hire, round, attempt, verdict, reasons, ...HASHES });
  };
  const decide = (name: keyof AuditedHires, decision: string) =>
    log.record("audit_actuation", AUDITED, {
      hire: hires[name] as string,
      decision,
      reasons: [{ code: "fabricated", detail: "Seen by eye." }],
    });

  for (const name of ["rolledBack", "dismissed", "challenged", "passed"] as const) {
    await hire(name);
    tick();
    await answer(name, name === "passed" ? "pass" : "fail");
    tick();
    if (name !== "passed") await answer(name, "fail");
    tick();
  }
  decide("rolledBack", "rollback");
  decide("dismissed", "dismiss");
  // A second decision has no effect.
  decide("dismissed", "rollback");
  // The receipt of this hire has no hashes. So the seller discloses nothing.
  log.hire(SELLER, wallet(buyers++));
  log.after(DAY + 60);
  tick();
  hires.undisclosed = [...(await log.derive()).store.rows("audit").keys()].at(-1) as string;
  tick();
  await hire("assigned");
  tick();
  await hire("secondRound");
  tick();
  await answer("secondRound", "fail");
  tick();
  // A hire with its money in an escrow, and a listing with a capability that nobody audits.
  log.listing(SELLER, "code.review", { audit: { operator: AUDITED } });
  const escrow = log.deposit(SELLER, wallet(buyers++));
  log.receipt(SELLER, wallet(buyers - 1), { escrow_id: escrow, ...HASHES, capability: "text.translate" });
  tick();
  log.record("auditor", wallet(100), {
    ...{ agent_id: wallet(100), operator: AUDITED, capabilities: ["text.translate"] },
    ...{ endpoint: "https://auditor-0.example", active: false, issued_at: 2 },
  });
  log.after(DAY);
  log.hire(SELLER, wallet(buyers++), { ...HASHES, capability: "code.review" });
  const { store } = await log.derive();
  hires.assigning = [...store.rows("audit").keys()].at(-1) as string;
  tick();
  await hire("eligible");
  return { log, hires: hires as AuditedHires };
}

export type AuditStory = Awaited<ReturnType<typeof start>>;

let running: Promise<AuditStory> | undefined;

/** The audited market in a database of its own, on the Postgres that all tests of the API share. */
export function openAuditStory(): Promise<AuditStory> {
  running ??= start();
  return running;
}

beforeServerStops(async () => {
  const story = await running?.catch(() => undefined);
  await story?.database.close();
});

async function start() {
  const database = await openApiDatabase(await testDatabase(), { indexes: true });
  const { log, hires } = await auditedMarket();
  const derived = await log.derive();
  await database.fill(derived.store);
  await fillEventLog(database, log, derived);
  await database.pool.query("ANALYZE");
  const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
  const app: Hono = createApi({ db: database.db, operations, node, settlementUrl: null });
  const ask = async <Data>(query: string, variables: object = {}): Promise<Data> => {
    const response = await app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    const body = (await response.json()) as { data: Data; errors?: unknown };
    if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors));
    return body.data;
  };
  return { database, app, log, hires, store: derived.store, ask };
}
