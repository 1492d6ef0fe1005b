import {
  type SettlementFigures,
  settlementFigures,
} from "tallystick-derive/settlementTrust/settlementFigures";
import { settlementLevels } from "tallystick-derive/settlementTrust/trustOf";
import { AgentRef } from "./agent.ts";
import { builder } from "./builder.ts";

const SettlementLevel = builder.enumType("SettlementLevel", {
  description:
    "How far settlement trusts an agent: 5, 20 or 100 settled proposals and a trust of 0.60, 0.82 or 0.92.",
  values: Object.fromEntries(settlementLevels.map((level) => [level.toUpperCase(), { value: level }])),
});

const SettlementTrustRef = builder.objectRef<SettlementFigures>("SettlementTrust").implement({
  description:
    "What settlement makes of an agent's proposals (swarm.at §13). It is the operator's word, since rejected work leaves no entry, and " +
    "advice: no figure, tier or score depends on it.",
  fields: (t) => ({
    trust: t.float({
      description: "The percentile less the mean divergence, at least 0.",
      resolve: ({ trust }) => trust,
    }),
    level: t.field({ type: SettlementLevel, resolve: ({ level }) => level }),
    percentile: t.float({
      description:
        "The 5th percentile of Beta(1 + complexity settled, 2 + complexity rejected), in whole tasks.",
      resolve: ({ percentile }) => percentile,
    }),
    meanDivergence: t.float({
      nullable: true,
      description: "Of what a shadow was compared with; null when nothing was.",
      resolve: ({ mean_divergence }) => mean_divergence,
    }),
    settled: t.field({ type: "SafeInt", resolve: ({ settled }) => settled }),
    rejected: t.field({ type: "SafeInt", resolve: ({ rejected }) => rejected }),
    settledComplexity: t.float({
      description: "Summed, in tasks of complexity 1; the agent's own word.",
      resolve: ({ settled_complexity }) => settled_complexity,
    }),
    rejectedComplexity: t.float({ resolve: ({ rejected_complexity }) => rejected_complexity }),
    compared: t.field({ type: "SafeInt", resolve: ({ compared }) => compared }),
    lastHour: t.field({
      type: "SafeInt",
      description: "The last hour that was told, unix seconds / 3600.",
      resolve: ({ last_hour }) => last_hour,
    }),
  }),
});

builder.objectField(AgentRef, "settlementTrust", (t) =>
  t.field({
    type: SettlementTrustRef,
    nullable: true,
    description: "The operator's word on its proposals, as advice; null when none were told.",
    resolve: async ({ row }, _, { load }) => {
      const found = await load.settlementTrust.load(row.id);
      return found === null ? null : settlementFigures(found);
    },
  }),
);
