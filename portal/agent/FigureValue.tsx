import { formatLatency, formatNumber, formatRate, plainText } from "../design/format.ts";
import { Usdc } from "../design/Usdc.tsx";
import type { Explained } from "./agentQuery.ts";
import type { Figure } from "./figures.ts";

/**
 * Shows a figure in its unit. An agent with private metrics has a bucket, such as a range, in place of a
 * number.
 */
export function FigureValue({ figure, value }: { figure: Figure; value: Explained["value"] }) {
  if (value === null || value === undefined) return <span class="soft">–</span>;
  if (figure.kind === "usdc" && typeof value === "string") return <Usdc amount={value} />;
  if (typeof value !== "number") return <span>{plainText(String(value), 60)}</span>;
  if (figure.kind === "rate") return <span>{formatRate(value)}</span>;
  if (figure.kind === "latency") return <span>{formatLatency(value)}</span>;
  if (figure.kind === "stars")
    return (
      <span>
        {formatNumber(value)} <small>of 5</small>
      </span>
    );
  return <span>{formatNumber(value)}</span>;
}
