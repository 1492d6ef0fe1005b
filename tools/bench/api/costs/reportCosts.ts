import { availableParallelism, cpus } from "node:os";
import type { MarketSize } from "../loadMarket.ts";
import { type Cost, perPoint } from "./measureCosts.ts";

/** One row of the table: a request. */
export function costLine(cost: Cost): string {
  const { name, points, nodeUs, postgresUs } = cost;
  const whole = [nodeUs, postgresUs, perPoint(cost)].map((it) => it.toFixed(0));
  return `| ${[name, points.toFixed(2), ...whole].join(" | ")} |`;
}

/** A table in Markdown; the requests whose points buy the most work come first. */
export function reportCosts(costs: Cost[], { agents, hires }: MarketSize): string {
  return [
    `${availableParallelism()} × ${cpus()[0]?.model}, Node ${process.version}; ${agents} agents, ${hires} hires; processor time for one request, in microseconds`,
    "",
    "| request | points | the node | Postgres | for a point |",
    "|---|---:|---:|---:|---:|",
    ...costs.map(costLine),
    "",
  ].join("\n");
}
