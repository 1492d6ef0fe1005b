import type { Endorsement } from "tallystick-protocol/records/endorsement";
import { findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { buyerGroupOf } from "../buyerGroups.ts";
import { sharedClusterSize } from "../clusters.ts";
import type { RecordEvent } from "../events.ts";
import type { Row } from "../tables.ts";
import { DAY, HOUR } from "./days.ts";
import type { CountedEndorsement } from "./score.ts";
import { ensureSteward } from "./stewardRow.ts";

/** The most endorsements of one agent, and the most of them by one endorser. Older ones are dropped. */
const MAX_ENDORSEMENTS = 64;
const MAX_PER_ENDORSER = 3;

/** How long an endorser must have been an agent. */
const ENDORSER_SECONDS = 30 * DAY;

/** This many endorsers within one hour count as a crowd that somebody arranged. */
const CROWD = 4;

/** Why an endorsement does not count. */
export type LeftOutReason = "mutual" | "cluster" | "young" | "no_sale" | "crowd";

type Held = { endorser: string; capability: string; time: number };

export function endorsementId({ endorser, agent_id, capability }: Endorsement): string {
  return `${endorser}/${agent_id}/${capability ?? "*"}`;
}

/** Stores an agent's endorsement of another, or its withdrawal. */
export function endorsementSettled(context: ApplyContext, event: RecordEvent, body: Endorsement): void {
  const id = endorsementId(body);
  const word = {
    endorser: body.endorser,
    agent: body.agent_id,
    capability: body.capability ?? null,
    statement: body.statement ?? null,
    isRevoked: body.revoked === true,
    issuedAt: body.issued_at,
    record: event.hash,
    time: context.at.time,
  };
  if (context.store.get("endorsement", id) === null) context.store.insert("endorsement", { id, ...word });
  else context.store.update("endorsement", id, word);
  const row = ensureSteward(context, body.agent_id);
  if (row === null) return;
  const { endorser } = body;
  const capability = body.capability ?? "*";
  let held = parseHeld(row.endorsedBy).filter(
    (it) => it.endorser !== endorser || it.capability !== capability,
  );
  if (!word.isRevoked) {
    held.push({ endorser, capability, time: context.at.time });
    const own = held.filter((it) => it.endorser === endorser);
    if (own.length > MAX_PER_ENDORSER) held = held.filter((it) => it !== own[0]);
    held = held.slice(-MAX_ENDORSEMENTS);
  }
  context.store.update("steward", row.id, { endorsedBy: formatHeld(held) });
}

/**
 * Decides which endorsements of an agent count, and why the others do not. The trust of an endorser comes
 * from its latest row.
 *
 * @param find finds the latest row of an agent, even if it is not stored yet
 */
export function weighEndorsements(
  context: ApplyContext,
  row: Row<"steward">,
  find: (agent: string) => Row<"steward"> | null,
): { counted: CountedEndorsement[]; words: string; leftOut: string } {
  const held = parseHeld(row.endorsedBy);
  const crowd = crowdIn(held);
  const counted: CountedEndorsement[] = [];
  const [words, leftOut]: [string[], string[]] = [[], []];
  // The name of a buyer group follows from how groups were merged, and the leaf of the score must not.
  const firstOf = new Map<string, string>();
  for (const it of held) {
    const endorser = find(it.endorser);
    const reason = reasonAgainst(context, row.id, it.endorser, endorser, crowd.has(it));
    if (reason !== null) {
      leftOut.push(`${it.endorser} ${it.capability} ${reason}`);
      continue;
    }
    const group = buyerGroupOf(context, it.endorser);
    const party = firstOf.get(group) ?? it.endorser;
    firstOf.set(group, party);
    const one = { party, trust: endorser?.ownTrust ?? 0 };
    counted.push(one);
    words.push(`${it.endorser} ${it.capability} ${one.party} ${one.trust}`);
  }
  return { counted, words: words.join("\n"), leftOut: leftOut.join("\n") };
}

function reasonAgainst(
  context: ApplyContext,
  agent: string,
  endorser: string,
  row: Row<"steward"> | null,
  isCrowd: boolean,
): LeftOutReason | null {
  if (parseHeld(row?.endorsedBy ?? "").some((it) => it.endorser === agent)) return "mutual";
  if (sharedClusterSize(context, agent, endorser) > 1) return "cluster";
  const registered = findAgent(context, endorser)?.registeredTime ?? context.at.time;
  if (context.at.time - registered < ENDORSER_SECONDS) return "young";
  if ((row?.sales ?? 0) === 0) return "no_sale";
  return isCrowd ? "crowd" : null;
}

/**
 * The endorsements that came together with those of at least three other endorsers within one hour, both ends
 * included.
 */
function crowdIn(held: readonly Held[]): Set<Held> {
  const crowd = new Set<Held>();
  for (const first of held) {
    const near = held.filter(({ time }) => time >= first.time && time <= first.time + HOUR);
    if (new Set(near.map(({ endorser }) => endorser)).size >= CROWD) for (const it of near) crowd.add(it);
  }
  return crowd;
}

export function parseHeld(text: string): Held[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [endorser, capability, time] = line.split(" ") as [string, string, string];
    return { endorser, capability, time: Number(time) };
  });
}

function formatHeld(held: readonly Held[]): string {
  return held.map(({ endorser, capability, time }) => `${endorser} ${capability} ${time}`).join("\n");
}
