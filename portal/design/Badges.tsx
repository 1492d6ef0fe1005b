import { plainText } from "./format.ts";
import { Icon } from "./Icon.tsx";

const TIERS = [
  { name: "Unverified", kind: "" },
  { name: "Claimed", kind: "claimed" },
  { name: "Verified", kind: "good" },
] as const;

/** A trust tier with its name (SHP §4.3). */
export function Tier({ tier }: { tier: number }) {
  const { name, kind } = TIERS[tier] ?? TIERS[0];
  return (
    <span class={`badge ${kind}`} title={`Trust tier ${tier} of 2`}>
      {tier === 2 && <Icon name="done" size={12} />}
      {name}
    </span>
  );
}

const OUTCOMES: { [outcome: string]: { name: string; kind: string } } = {
  success: { name: "Success", kind: "good" },
  failure: { name: "Failure", kind: "bad" },
  neutral: { name: "Neutral", kind: "" },
};

/** The outcome of a hire, in upper or lower case. */
export function Outcome({ outcome }: { outcome: string }) {
  const { name, kind } = OUTCOMES[outcome.toLowerCase()] ?? { name: plainText(outcome, 40), kind: "" };
  return <span class={`badge ${kind}`}>{name}</span>;
}

/** Shows the size of a cluster, if there is one. */
export function ClusterBadge({ size }: { size: number }) {
  if (size <= 1) return <span class="soft">–</span>;
  return (
    <span
      class="badge warn"
      title={`One of ${size} agents that seem to have one owner: a hire between two of them counts 1/${size}`}
    >
      1 of {size}
    </span>
  );
}
