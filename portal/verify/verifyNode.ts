import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Snapshot } from "tallystick-derive/snapshot";
import { STATE_ID } from "tallystick-derive/stateId";
import { TallystickError } from "tallystick-protocol/errors";
import { deriveNode } from "tallystick-sdk/openLog/deriveNode";
import { agentSnapshot } from "./agentSnapshot.ts";
import { type Check, type Finding, fails, holds, isOpen } from "./check.ts";
import { contractSignedChecks, signaturesChecked } from "./contractSigned.ts";
import { MAX_MEMBERS } from "./maxMembers.ts";
import { MANY_BLOCKS } from "./verifyHead.ts";
import { type AgentWatch, watchAgent } from "./watchAgent.ts";

/** A node's figures of an agent, with their tick, to compare with its log. */
export type Claim = {
  address: string;
  /** The figures by their published names, from `/v1/agents/…/reputation`. */
  figures: { [name: string]: unknown };
  /** The other members of its cluster, from `/v1/agents/…/cluster`; null if the node says that there are more. */
  coMembers: string[] | null;
  asOf: { block: number; digest: string };
  /** What the agent's page shows as of the same tick, by the same names; null if the node did not give it. */
  shown?: { [name: string]: unknown } | null;
};

/** The most lines of a log, because a tab has less memory than a process. */
const MAX_LINES = 2_000_000;

/** The most blocks between two ticks that excuse a log which ends before the figures of its node. */
const MAX_TICK_BLOCKS = 10_000;

/**
 * Derives a node's final event log again and checks every signature of a key. Then it compares the result with the node's
 * digest at every tick, and with every figure of the claim.
 *
 * @param finalFrom the node has said that a tick at this block or later is final. Then its log must have such a tick
 */
export async function verifyNode(
  url: string,
  claim: Claim | null,
  onProgress: (share: number) => void,
  finalFrom = 0,
): Promise<Finding> {
  const title = claim === null ? "All that this node says" : "What this node says of the agent";
  const watch =
    claim === null ? null : watchAgent(claim.address, claim.asOf.block, (states) => isRight(claim, states));
  try {
    const { store, events, agreed, contractSigned } = await deriveNode(url, {
      check: true,
      most: MAX_LINES,
      ...(watch !== null && { onEvent: watch.look }),
      onProgress: ({ fetched, last }) => onProgress(fetched / Math.max(last, 1)),
    });
    const state = store.rows("state").get(STATE_ID);
    const ofClaim = watch === null ? null : watched(claim as Claim, watch, store, finalFrom);
    return {
      title,
      ...ofClaim?.waits,
      checks: [
        events === 0
          ? isOpen("The node's log is empty, so nothing was derived")
          : holds(
              `The node's ${events.toLocaleString("en")} events were derived again here`,
              signaturesChecked(contractSigned),
            ),
        ...contractSignedChecks(contractSigned),
        agreed
          ? holds(`${agreed.toLocaleString("en")} digests agree, one a tick`, `the last: ${state?.digest}`)
          : isOpen("The log has no tick yet, so no digest was compared"),
        ...(ofClaim?.checks ?? []),
        isOpen(
          "This node alone cannot show whether its log lacks something",
          "Another node, or the chain, can. The command “tallystick compare” names the first line at which two nodes differ.",
        ),
      ],
    };
  } catch (error) {
    if (!(error instanceof TallystickError)) throw error;
    return {
      title,
      checks: [fails(SENTENCES[error.code] ?? "The node's log cannot be followed", error.message)],
    };
  }
}

/** The checks of a claim, and for which block the rest of them has to wait. */
function watched(
  claim: Claim,
  watch: AgentWatch,
  store: MemoryStore,
  finalFrom: number,
): Pick<Finding, "checks"> & { waits?: Pick<Finding, "waitsFor" | "mayWaitFor"> } {
  const { block } = claim.asOf;
  const { atTick, later, isPast, isWhole } = watch;
  const cut = cutCheck(claim, watch.lastTick, finalFrom, tickBlocksOf(store));
  if (cut !== null) return { checks: [cut] };
  if (atTick === undefined && isPast)
    return { checks: [fails(`The figures are as of block ${block}, which is no tick of the node's log`)] };
  const checks = claimChecks(claim, atTick ?? agentSnapshot(store, claim.address), { later, isWhole });
  const isUndecided = checks.length === 1 && checks[0]?.state === "open";
  // If an undecided claim is as of a tick of the log, something has changed since. Then the next tick decides.
  if (isUndecided) return { checks, waits: { waitsFor: atTick === undefined ? block : block + 1 } };
  // All figures hold so far, and the reader may wait for the rest.
  return { checks, ...(atTick === undefined && { waits: { mayWaitFor: block } }) };
}

const SENTENCES: { [code: string]: string } = {
  digest_differs: "The node's digest does not follow from its log",
  unreachable: "The node does not answer",
  contradictory_event: "A line of the log contradicts those before it",
};

/**
 * Fails if the log ends too early for the claim. Otherwise a node could keep the newest events back: its figures would
 * follow from an old part of its log, and the check of the rest would wait forever.
 */
function cutCheck(
  { asOf: { block } }: Claim,
  lastTick: number,
  finalFrom: number,
  tickBlocks: number,
): Check | null {
  const detail = `Its last tick is of block ${lastTick}, the figures are as of block ${block}.`;
  if (lastTick < finalFrom)
    return fails("The node's log ends before a block that the node itself calls final", detail);
  // A tick is final some hundred blocks later. A new node may have no final tick yet.
  if (lastTick > 0 && block - lastTick > MANY_BLOCKS + Math.min(tickBlocks, MAX_TICK_BLOCKS))
    return fails("The node's log ends long before the figures that it shows", detail);
  return null;
}

function tickBlocksOf(store: MemoryStore): number {
  const state = store.rows("state").get(STATE_ID);
  return Number(Object(JSON.parse(state?.params ?? "{}")).tickBlocks ?? 0);
}

/** The figures of the node and of the agent's page that none of these states gives. */
function wrongFigures({ address, figures, shown }: Claim, states: readonly Snapshot[]): Wrong[] {
  const derived = states.flatMap(({ agents }) => agents[address] ?? []) as { [name: string]: unknown }[];
  const names = Object.keys(derived[0] ?? {});
  const wrong = (name: string, value: unknown, who: string): Wrong[] => {
    const [told, right] = [textOf(value), textOf(derived[0]?.[name])];
    return derived.some((it) => textOf(it[name]) === told)
      ? []
      : [{ name, said: `${who} says ${told}, the log gives ${right}.` }];
  };
  return [
    ...names.flatMap((name) => wrong(name, figures[name], "The node")),
    ...Object.keys(shown ?? {})
      .filter((name) => names.includes(name))
      .flatMap((name) => wrong(name, shown?.[name], "The agent's page")),
  ];
}

type Wrong = { name: string; said: string };

/** Whether these states give everything that a claim says. */
function isRight(claim: Claim, states: readonly Snapshot[]): boolean {
  return (
    states.some(({ agents }) => agents[claim.address] !== undefined) &&
    wrongFigures(claim, states).length === 0 &&
    membersCheck(claim, states).state !== "no"
  );
}

/**
 * Compares the claim about an agent with the derived figures, at the same tick or at the last final one.
 *
 * @param after.later the states between the claim's tick and the next one, whose figures are right too
 * @param after.isWhole whether the log has the next tick. Without it, a figure may be of a later state
 */
export function claimChecks(
  claim: Claim,
  snapshot: Snapshot,
  { later = [], isWhole = true }: { later?: readonly Snapshot[]; isWhole?: boolean } = {},
): Check[] {
  const { asOf, address, shown } = claim;
  const isSameTick = snapshot.asOf.block === asOf.block;
  const states = [snapshot, ...later];
  const known = states.flatMap(({ agents }) => agents[address] ?? []);
  if (known.length === 0)
    return isSameTick && isWhole
      ? [fails("The log knows no such agent", address)]
      : [isOpen("The agent is not in what is final yet", address)];
  const names = Object.keys(known[0] as object);
  const wrong = wrongFigures(claim, states);
  const member = membersCheck(claim, states);
  const unshown = shown === null ? [UNSHOWN] : [];
  const block = snapshot.asOf.block.toLocaleString("en");
  if (!isRight(claim, states) && !(isSameTick && isWhole))
    return [
      isOpen(
        isSameTick
          ? `Some of it is different at block ${block}, and what came after it is not final yet`
          : `Some of it is different at block ${block}, the last final one`,
        wrong.map(({ name }) => name).join(", "),
      ),
    ];
  if (!isSameTick)
    return [
      holds(`All ${names.length} figures follow from the log, as of block ${block}, the last final one`),
      ...unshown,
      member,
      isOpen(
        `Whether they still follow at block ${asOf.block.toLocaleString("en")} can be checked once it is final`,
      ),
    ];
  return [
    snapshot.digest === asOf.digest
      ? holds(`The figures are as of block ${block}, with its digest`)
      : fails(
          `The digest that came with the figures is not that of block ${asOf.block}`,
          `The node says ${asOf.digest}, its log gives ${snapshot.digest}.`,
        ),
    ...wrong.map(({ name, said }) => fails(`${name} is not what the log gives`, said)),
    ...(wrong.length === 0
      ? [
          holds(
            `All ${names.length} figures of the agent follow from the log`,
            wrongFigures(claim, [snapshot]).length === 0
              ? undefined
              : "Some of them changed after that block, before the next tick.",
          ),
        ]
      : []),
    ...unshown,
    member,
  ];
}

/** A node could tell programs the truth, and readers something else. */
const UNSHOWN = isOpen(
  "Whether the agent's page shows these figures",
  "The node does not give what the page shows as of the same block.",
);

/** The check of the members: the first state that has them, otherwise the first one. */
function membersCheck({ address, coMembers }: Claim, states: readonly Snapshot[]): Check {
  const checks = states.map((it) => memberCheck(address, coMembers, it));
  return checks.find(({ state }) => state !== "no") ?? (checks[0] as Check);
}

function memberCheck(address: string, coMembers: string[] | null, { agents, clusters }: Snapshot): Check {
  const id = agents[address]?.cluster_id ?? null;
  const derived = id === null ? [] : (clusters[id]?.members ?? []).filter((it) => it !== address);
  if (coMembers === null)
    return derived.length > MAX_MEMBERS
      ? isOpen(`Its cluster has ${derived.length} other members, and they were not compared`)
      : fails("The node names only a part of the members of its cluster", derived.join(", "));
  const hidden = derived.filter((it) => !coMembers.includes(it));
  const invented = coMembers.filter((it) => !derived.includes(it));
  if (hidden.length > 0)
    return fails(`The node hides ${hidden.length} of the members of its cluster`, hidden.join(", "));
  if (invented.length > 0)
    return fails("The node names members that its cluster does not have", invented.join(", "));
  return derived.length === 0
    ? holds("It is in no cluster")
    : holds(`Its cluster has the ${derived.length} other members that the node names`);
}

/** JSON with sorted keys. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "nothing";
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, it]) => `${JSON.stringify(key)}:${textOf(it)}`).join(",")}}`;
}
