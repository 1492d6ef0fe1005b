import {
  type SettlementFigures,
  settlementFigures,
} from "tallystick-derive/settlementTrust/settlementFigures";
import { settlementLevels } from "tallystick-derive/settlementTrust/trustOf";
import { AgentRef } from "./agent.ts";
import { builder } from "./builder.ts";

const SettlementLevel = builder.enumType("SettlementLevel", {
  description:
    "Settlement's level of trust in an agent. The levels need 5, 20 or 100 settled proposals, and a trust of 0.60, 0.82 or 0.92.",
  values: Object.fromEntries(settlementLevels.map((level) => [level.toUpperCase(), { value: level }])),
});

const SettlementTrustRef = builder.objectRef<SettlementFigures>("SettlementTrust").implement({
  description:
    "Settlement's trust in an agent, from its proposals (swarm.at §13). It is the operator's word, because rejected work leaves no entry. It is advice: no figure, tier or score depends on it.",
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
      description:
        "The mean divergence of the proposals that were compared with a shadow; null when there are none.",
      resolve: ({ mean_divergence }) => mean_divergence,
    }),
    settled: t.field({ type: "SafeInt", resolve: ({ settled }) => settled }),
    rejected: t.field({ type: "SafeInt", resolve: ({ rejected }) => rejected }),
    settledComplexity: t.float({
      description:
        "The sum of the complexities, in tasks of complexity 1. The agent itself gives the complexities.",
      resolve: ({ settled_complexity }) => settled_complexity,
    }),
    rejectedComplexity: t.float({ resolve: ({ rejected_complexity }) => rejected_complexity }),
    compared: t.field({ type: "SafeInt", resolve: ({ compared }) => compared }),
    lastHour: t.field({
      type: "SafeInt",
      description: "The last reported hour, unix seconds / 3600.",
      resolve: ({ last_hour }) => last_hour,
    }),
  }),
});

builder.objectField(AgentRef, "settlementTrust", (t) =>
  t.field({
    type: SettlementTrustRef,
    nullable: true,
    description:
      "Settlement's trust in its proposals: advice, and the operator's word. Null when no outcome was reported.",
    resolve: async ({ row }, _, { load }) => {
      const found = await load.settlementTrust.load(row.id);
      return found === null ? null : settlementFigures(found);
    },
  }),
);
