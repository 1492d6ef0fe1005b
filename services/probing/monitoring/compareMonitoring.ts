import { tryForeignJson } from "tallystick-protocol/json/foreignJson";

/** What a guarantee comes to. Shares, or milliseconds; null without data. */
export type GuaranteeFigure = {
  metric: string;
  /** Like `30 days`. */
  window: string;
  current: number | null;
  status: string;
};

/** A guarantee as the agent's own endpoint tells it (null: not at all), and as it was measured. */
export type MonitoringRow = {
  metric: string;
  window: string;
  measured: Pick<GuaranteeFigure, "current" | "status">;
  claimed: Pick<GuaranteeFigure, "current" | "status"> | null;
  differs: boolean;
};

/** Most guarantees of an answer that are read; an agent has no more. */
const MOST_GUARANTEES = 64;

/** Shares that differ by less than a hundredth, and latencies by less than a tenth, are the same: nobody measures at one moment. */
const SHARE_TOLERANCE = 0.01;
const LATENCY_TOLERANCE = 0.1;
/** What floats lose. */
const ROUNDING = 1e-9;

/**
 * What an agent's monitoring endpoint answers (T026), held to what was measured.
 *
 * @param text of its answer, a stranger's
 * @returns undefined when it is not of that form
 */
export function compareMonitoring(
  text: string,
  measured: readonly GuaranteeFigure[],
): MonitoringRow[] | undefined {
  const status = (tryForeignJson(text) as { sla_status?: { guarantees?: unknown } } | null | undefined)
    ?.sla_status;
  if (!Array.isArray(status?.guarantees) || status.guarantees.length > MOST_GUARANTEES) return undefined;
  const claims = status.guarantees.flatMap(claimOf);
  return measured.map(({ metric, window, ...own }) => {
    const found = claims.find((it) => it.metric === metric && it.window === window);
    const claimed = found === undefined ? null : { current: found.current, status: found.status };
    return {
      metric,
      window,
      measured: own,
      claimed,
      differs: claimed === null || isOther(metric, own, claimed),
    };
  });
}

function claimOf(value: unknown): GuaranteeFigure[] {
  const { metric, measurement_window: window, current, status } = Object(value) as { [key: string]: unknown };
  if (typeof metric !== "string" || typeof window !== "string") return [];
  const figure = typeof current === "number" && Number.isFinite(current) ? current : null;
  return [{ metric, window, current: figure, status: typeof status === "string" ? status.slice(0, 32) : "" }];
}

type Figure = Pick<GuaranteeFigure, "current" | "status">;

function isOther(metric: string, own: Figure, claimed: Figure): boolean {
  if (own.current === null || claimed.current === null) return own.current !== claimed.current;
  const distance = Math.abs(own.current - claimed.current);
  if (metric.startsWith("latency_")) return distance > LATENCY_TOLERANCE * own.current + ROUNDING;
  return distance > SHARE_TOLERANCE + ROUNDING;
}
