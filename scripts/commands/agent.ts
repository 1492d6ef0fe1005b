import { type Command, InvalidArgumentError } from "commander";
import { TallystickError } from "tallystick-protocol/errors";
import { plainText } from "tallystick-runtime/plainText";
import type { AgentAnswer } from "tallystick-sdk/query/createGraphqlClient";
import {
  addQueryOptions,
  answer,
  bold,
  facts,
  moment,
  nodeAt,
  number,
  percent,
  type QueryOptions,
  table,
} from "../query/nodeQuery.ts";

/** `tallystick agent ADDRESS`: reputation, listings, latest hires and tier changes. */
export function registerAgent(program: Command): void {
  addQueryOptions(
    program
      .command("agent")
      .description("Show an agent: its reputation, listings, latest hires and tier changes.")
      .argument("<address>", "its wallet", address),
  ).action(async (wallet: string, options: QueryOptions) => {
    const agent = await nodeAt(options).agent(wallet);
    if (agent === null) {
      throw new TallystickError({
        code: "unknown_agent",
        message: `${wallet} has published no listing, taken part in no counted hire and paid into no escrow.`,
      });
    }
    answer(options, agent, () => describe(agent));
  });
}

function address(text: string): string {
  if (/^0x[0-9a-f]{40}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError("must be 0x and 40 hex digits.");
}

function describe(agent: NonNullable<AgentAnswer["agent"]>): string {
  const { clusterId, clusterSize, signalsTripped } = agent;
  const coarse = agent.privateMetrics ? " (published buckets: the agent asks for private metrics)" : "";
  const costs = agent.avgCostPerCapability.map(
    ({ capability, medianUsdc }) => `${capability} $${medianUsdc}`,
  );
  return [
    `${bold(plainText(agent.address))}${coarse}`,
    facts([
      ["tier", agent.trustTier],
      ["claim", agent.claimStatus],
      ["registered", moment(agent.registeredTime)],
      ["success rate", percent(agent.successRate)],
      ["hires, 30 days", `${number(agent.last30dHireCount)} weighted, ${agent.last30dHireCountRaw} in all`],
      ["volume, 24 hours", `$${agent.last24hVolumeUsdc}`],
      ["latency p50 / p95", `${number(agent.avgLatencyMsP50)} / ${number(agent.avgLatencyMsP95)} ms`],
      [
        "stars",
        agent.avgStars === null ? null : `${number(agent.avgStars)} of ${agent.totalRatings} ratings`,
      ],
      ["refunded", agent.refundRate === null ? null : percent(agent.refundRate)],
      [
        "buyers",
        `${agent.distinctBuyers}, ${agent.independentBuyers} independent, ${agent.establishedBuyers} established`,
      ],
      ["stayed", `$${agent.keptUsdc}`],
      [
        "receipts",
        agent.receiptCoverage === null
          ? null
          : `for ${percent(agent.receiptCoverage)} of its direct payments`,
      ],
      ["median prices", costs.join(", ")],
      [
        "cluster",
        clusterId === null ? null : `${clusterId}, ${clusterSize} agents: ${signalsTripped.join(", ")}`,
      ],
      ["bought", agent.hiresBought],
    ]),
    table(
      ["offers", "price", "within", "mode", "endpoint"],
      agent.listings.nodes
        .filter((it) => it.live)
        .map((it) => [
          it.capability,
          `$${it.priceUsdc}`,
          `${it.maxLatencyMs} ms`,
          it.paymentMode,
          it.endpoint,
        ]),
      "It offers nothing now.",
    ),
    table(
      ["hired", "by", "for", "price", "outcome", "evidence", "weight"],
      agent.hires.nodes.map((it) => [
        moment(it.time),
        it.buyerAddress,
        it.capability ?? "–",
        `$${it.priceUsdc}`,
        it.outcome.toLowerCase(),
        it.evidence.toLowerCase(),
        number(it.weight),
      ]),
      "It was not hired yet.",
    ),
    ...leftOut(agent),
    ...agent.tierChanges.nodes.map(
      ({ time, from, to, reason }) => `${moment(time)}  tier ${from} → ${to}: ${plainText(reason)}`,
    ),
  ].join("\n\n");
}

/** Lines about missing receipts and answers that count against a seller, and what the seller can do. */
function leftOut(agent: NonNullable<AgentAnswer["agent"]>): string[] {
  const { unreceiptedPayments, unreceiptedUsdc, unansweredEscrows, refundsContested } = agent;
  return [
    ...(unreceiptedPayments === 0
      ? []
      : [
          `${unreceiptedPayments} payments of $${unreceiptedUsdc} have no receipt after 24 hours. Publish a receipt for each: a late receipt still counts.`,
        ]),
    ...(unansweredEscrows === 0
      ? []
      : [
          `${unansweredEscrows} deposits in its name went back unanswered. Mark delivery, publish a receipt, or refund the buyer yourself: each counts as an answer.`,
        ]),
    ...(refundsContested === 0
      ? []
      : [
          `${refundsContested} hires were taken back after delivery, by ${agent.refundsContestedFamilies} families of buyers. Agree to audits in the listing: audits find out who was right.`,
        ]),
  ];
}
