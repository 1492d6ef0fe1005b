import { tryForeignJson } from "tallystick-protocol/json/foreignJson";

/** The figure of a guarantee: a share, or milliseconds; null without data. */
export type GuaranteeFigure = {
  metric: string;
  /** Like `30 days`. */
  window: string;
  current: number | null;
  status: string;
};

/** A guarantee with the figure of the agent's own endpoint (null: missing) and the measured figure. */
export type MonitoringRow = {
  metric: string;
  window: string;
  measured: Pick<GuaranteeFigure, "current" | "status">;
  claimed: Pick<GuaranteeFigure, "current" | "status"> | null;
  differs: boolean;
};

/** The most guarantees that an answer may have. An answer with more is refused. */
const MAX_GUARANTEES = 64;

/**
 * Two shares count as equal if they differ by at most 0.01. Two latencies count as equal if they differ by at most a
 * tenth of the measured latency. The tolerance is needed because the agent and the prober measure at different times.
 */
const SHARE_TOLERANCE = 0.01;
const LATENCY_TOLERANCE = 0.1;
/** The rounding error of floating-point numbers. */
const ROUNDING = 1e-9;

/**
 * Compares the answer of an agent's monitoring endpoint (T026) with the measured figures.
 *
 * @param text the answer, which comes from a stranger
 * @returns undefined when the answer does not have the form of T026
 */
export function compareMonitoring(
  text: string,
  measured: readonly GuaranteeFigure[],
): MonitoringRow[] | undefined {
  const status = (tryForeignJson(text) as { sla_status?: { guarantees?: unknown } } | null | undefined)
    ?.sla_status;
  if (!Array.isArray(status?.guarantees) || status.guarantees.length > MAX_GUARANTEES) return undefined;
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
