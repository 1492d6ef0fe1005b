import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { breachId } from "tallystick-protocol/records/breachId";
import { waitUntil } from "../../../processes/waitUntil.ts";
import { actors } from "../../actors.ts";
import { askGraphql } from "../../readBack.ts";
import type { Scene } from "../scene.ts";
import { watchNotices } from "./watchNotices.ts";

const HOUR = 3_600;
const DAY = 86_400;
const MINUTE = 60;

const CAPABILITY = "text.rewrite.formal";
const HOST = "harbor.example:443";

/**
 * An hour of twelve slots of five minutes, as bits: the slots in which the prober looked, and those in which
 * the host was down.
 */
const UP = [0xfff, 0];
const DOWN = [0xfff, 0xfff];

/** The id of harbor's only guarantee. */
const GUARANTEE = "uptime/7/0";

/** How many hourly reports one anchor can carry. A report counts until two hours after its hour. */
const AT_ONCE = 3;
/** The measured hours. Three quarters of a day is enough data for a breach. */
const HOURS = 18;
/** The hour in which the host was down. */
const LOST = 5;

const { harbor, prober, arbitrator, operator } = actors;

/**
 * The chapter on SLAs (STEWARD). Harbor promises an uptime and is measured. It is at risk, breaks the promise,
 * disputes the breach, loses, is suspended, and recovers. The chapter plays in the days before the present and
 * ends now. It waits for the node only at states that do not last to the end. All others are read back with
 * everything else.
 */
export async function keepPromise(scene: Scene): Promise<string> {
  const { chain } = scene;
  const notices = await watchNotices(scene);
  try {
    const day = await declare(scene);
    const detected = await measure(scene, day);
    await dispute(scene, breachId({ agent: harbor.address, guarantee: GUARANTEE, detected }));
    await beSuspended(scene, day + DAY);
    await notices.until("detected");
    await notices.until("confirmed");
    // After a day without a failure, the breach is closed and the suspension ends.
    await chain.setNextTime(day + 2 * DAY + 20 * HOUR + 30 * MINUTE);
    await chain.mineToTick();
  } finally {
    notices.close();
  }
  await chain.passTime(Math.max(1, Math.floor(Date.now() / 1000) - Number(await chain.now())));
  return "a promised uptime was missed; a dispute failed; the seller was suspended for a day, and is in search again";
}

/**
 * The operator names the prober and the arbitrator, and harbor publishes its SLA. Returns the start of the next
 * day.
 */
async function declare({ node, chain, records, untilAnchored, signal }: Scene): Promise<number> {
  // The node knows its parameters from its first tick on.
  await chain.mineToTick();
  const params = await waitUntil(
    async (limit) => {
      const response = await fetch(`${node.url}/v1/params`, { signal: limit });
      const answer = (await response.json()) as { params?: RecordBody };
      if (answer.params !== undefined) return answer.params;
      throw new Error(`it answered ${response.status}: ${JSON.stringify(answer).slice(0, 300)}`);
    },
    { what: "the parameters", withinMs: 240_000, signal },
  );
  const now = Number(await chain.now());
  await records.publishParams(operator, {
    ...params,
    version: Number(params.version) + 1,
    steward: {
      ...(params.steward as RecordBody),
      probers: [prober.address],
      arbitrators: [arbitrator.address],
    },
  });
  await records.list(harbor, { capability: CAPABILITY, price: "0.10", latency: 3_000 }, "direct", now);
  const { index } = await records.publish("sla", harbor, {
    agent_id: harbor.address,
    version: "1",
    guarantees: [
      {
        ...{ metric: "uptime", target: "0.99", breach_threshold: "0.95", measurement_window: "7 days" },
        penalty: { type: "temporary_suspension", duration: "1 days" },
      },
    ],
    issued_at: now,
  });
  await untilAnchored(index + 1);
  return (Math.floor(now / DAY) + 1) * DAY;
}

/**
 * The prober reports the hours of a day until there is enough data. Returns the time at which the node finds
 * the breach.
 */
async function measure(scene: Scene, day: number): Promise<number> {
  const { chain } = scene;
  for (let hour = 0; hour < HOURS; hour += AT_ONCE) {
    await report(scene, day + hour * HOUR, AT_ONCE, (n) => (hour + n === LOST ? DOWN : UP));
    if (hour + AT_ONCE === 12) await untilAtRisk(scene);
  }
  // Two hours after the last hour, its report is final.
  await chain.setNextTime(day + (HOURS + 2) * HOUR + 5 * MINUTE);
  const tick = await chain.mineToTick();
  return Number((await chain.client.getBlock({ blockNumber: BigInt(tick) })).timestamp);
}

/**
 * Sends the reports of some hours at the end of the last of them. With {@link AT_ONCE} hours, this is the last second
 * in which the report of the first hour still counts.
 */
async function report(
  { chain, records, untilAnchored }: Scene,
  from: number,
  hours: number,
  slotsOf: (n: number) => number[],
): Promise<void> {
  await chain.setNextTime(from + hours * HOUR);
  let last = { index: 0 };
  for (let n = 0; n < hours; n++) {
    last = await records.publish("uptime", prober, {
      hour: from / HOUR + n,
      region: "demo",
      part: 0,
      hosts: { [HOST]: slotsOf(n) },
      served: { [harbor.address]: [HOST] },
    });
  }
  await untilAnchored(last.index + 1);
}

/** Harbor disputes the breach, and an arbitrator upholds it. */
async function dispute({ records, untilAnchored }: Scene, breach: string): Promise<void> {
  await records.publish("sla_dispute", harbor, {
    breach,
    agent_id: harbor.address,
    claim: "An hour is not much.",
    evidence: [],
    requested_remedy: "remove_penalty",
  });
  const { index } = await records.publish("sla_ruling", arbitrator, {
    breach,
    ruling: "upheld",
    reasons: "It is more than the SLA allows.",
  });
  await untilAnchored(index + 1);
}

/**
 * Reports one more hour, and waits until search leaves harbor out. A search that includes suspended agents finds it.
 */
async function beSuspended(scene: Scene, day: number): Promise<void> {
  await report(scene, day + 22 * HOUR, 1, () => UP);
  const listings = (more: string) =>
    `listings(first: 5, where: { capability: "${CAPABILITY}"${more} }) { nodes { id } }`;
  type Found = { found: { nodes: object[] }; all: { nodes: object[] } };
  await untilTold<Found>(scene, {
    what: "search to leave harbor out",
    query: `found: ${listings("")} all: ${listings(", includeSuspended: true")}`,
    isSo: ({ found, all }) => found.nodes.length === 0 && all.nodes.length === 1,
  });
}

async function untilAtRisk(scene: Scene): Promise<void> {
  await untilTold<{ agent: { sla: { overallStatus: string } | null } | null }>(scene, {
    what: "harbor to be at risk",
    query: `agent(address: "${harbor.address}") { sla { overallStatus } }`,
    isSo: ({ agent }) => agent?.sla?.overallStatus === "at_risk",
  });
}

/** Mines to a tick, and waits until the node gives an answer. */
async function untilTold<T>(
  { node, chain, signal }: Scene,
  { what, query, isSo }: { what: string; query: string; isSo: (answer: T) => boolean },
): Promise<void> {
  const block = await chain.mineToTick();
  const look = async (limit: AbortSignal) => {
    type Answer = T & { meta: { block: number } };
    const answer = await askGraphql<Answer>(node.url, `{ meta { block } ${query} }`, limit);
    if (answer.meta.block >= block && isSo(answer)) return true;
    throw new Error(`at block ${block}: ${JSON.stringify(answer)}`);
  };
  await waitUntil(look, { what, withinMs: 240_000, signal });
}
