import type { Snapshot } from "tallystick-derive/snapshot";
import { snapshotOf } from "tallystick-derive/snapshot";
import { TallystickError } from "tallystick-protocol/errors";
import { deriveNode } from "tallystick-sdk/openLog/deriveNode";
import { type Check, type Finding, fails, holds, isOpen } from "./check.ts";
import { contractSignedChecks, signaturesChecked } from "./contractSigned.ts";
import { MAX_MEMBERS } from "./maxMembers.ts";

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

/**
 * Derives a node's event log again and checks every signature of a key, up to the claim's tick or the end of the final
 * log. Then it compares the result with the node's digest at every tick, and with every figure of the claim.
 */
export async function verifyNode(
  url: string,
  claim: Claim | null,
  onProgress: (share: number) => void,
): Promise<Finding> {
  const title = claim === null ? "All that this node says" : "What this node says of the agent";
  try {
    const { store, events, agreed, contractSigned } = await deriveNode(url, {
      check: true,
      most: MAX_LINES,
      ...(claim !== null && { atBlock: claim.asOf.block }),
      onProgress: ({ fetched, last }) => onProgress(fetched / Math.max(last, 1)),
    });
    const snapshot = snapshotOf(store);
    const isEarlier = claim !== null && snapshot.asOf.block < claim.asOf.block;
    const ofClaim = claim === null ? [] : claimChecks(claim, snapshot);
    return {
      title,
      // If `claimChecks` gives a single check, a figure changed after the last final block, and the verification must
      // wait. Otherwise all figures hold so far, and the reader may wait.
      ...(isEarlier && { [ofClaim.length === 1 ? "waitsFor" : "mayWaitFor"]: claim.asOf.block }),
      checks: [
        events === 0
          ? isOpen("The node's log is empty, so nothing was derived")
          : holds(
              `The node's ${events.toLocaleString("en")} events were derived again here`,
              signaturesChecked(contractSigned),
            ),
        ...contractSignedChecks(contractSigned),
        agreed
          ? holds(`${agreed.toLocaleString("en")} digests agree, one a tick`, `the last: ${snapshot.digest}`)
          : isOpen("The log has no tick yet, so no digest was compared"),
        ...ofClaim,
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

const SENTENCES: { [code: string]: string } = {
  digest_differs: "The node's digest does not follow from its log",
  unreachable: "The node does not answer",
  contradictory_event: "A line of the log contradicts those before it",
};

/** Compares the claim about an agent with the derived figures, at the same tick or at the last final one. */
export function claimChecks(claim: Claim, snapshot: Snapshot): Check[] {
  const { asOf, figures, address, coMembers, shown } = claim;
  const isSameTick = snapshot.asOf.block === asOf.block;
  const derived = snapshot.agents[address] as { [name: string]: unknown } | undefined;
  if (derived === undefined)
    return isSameTick
      ? [fails("The log knows no such agent", address)]
      : [isOpen("The agent is not in what is final yet", address)];
  const names = Object.keys(derived);
  const wrong = [
    ...names.flatMap((name) => wrongFigure(name, figures[name], "The node", derived)),
    ...Object.keys(shown ?? {})
      .filter((name) => names.includes(name))
      .flatMap((name) => wrongFigure(name, shown?.[name], "The agent's page", derived)),
  ];
  const member = memberCheck(address, coMembers, snapshot);
  const unshown = shown === null ? [UNSHOWN] : [];
  if (!isSameTick) {
    const isEarlier = member.state === "no" || wrong.length > 0;
    const block = snapshot.asOf.block.toLocaleString("en");
    if (isEarlier)
      return [
        isOpen(
          `Some of it is different at block ${block}, the last final one`,
          wrong.map(({ name }) => name).join(", "),
        ),
      ];
    return [
      holds(`All ${names.length} figures follow from the log, as of block ${block}, the last final one`),
      ...unshown,
      member,
      isOpen(
        `Whether they still follow at block ${asOf.block.toLocaleString("en")} can be checked once it is final`,
      ),
    ];
  }
  return [
    snapshot.digest === asOf.digest
      ? holds(`The figures are as of block ${asOf.block.toLocaleString("en")}, with its digest`)
      : fails(
          `The digest that came with the figures is not that of block ${asOf.block}`,
          `The node says ${asOf.digest}, its log gives ${snapshot.digest}.`,
        ),
    ...wrong.map(({ name, said }) => fails(`${name} is not what the log gives`, said)),
    ...(wrong.length === 0 ? [holds(`All ${names.length} figures of the agent follow from the log`)] : []),
    ...unshown,
    member,
  ];
}

/** A node could tell programs the truth, and readers something else. */
const UNSHOWN = isOpen(
  "Whether the agent's page shows these figures",
  "The node does not give what the page shows as of the same block.",
);

function wrongFigure(
  name: string,
  value: unknown,
  who: string,
  derived: { [name: string]: unknown },
): { name: string; said: string }[] {
  const [told, right] = [textOf(value), textOf(derived[name])];
  return told === right ? [] : [{ name, said: `${who} says ${told}, the log gives ${right}.` }];
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
